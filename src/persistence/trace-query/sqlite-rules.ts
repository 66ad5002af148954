import { constants, type DatabaseSync } from 'node:sqlite';
import type { Visibility } from '../../domain/caller.ts';
import { QUERY_VIEWS } from '../../domain/traces/trace-query.ts';

const { SQLITE_DENY, SQLITE_OK, SQLITE_FUNCTION, SQLITE_READ, SQLITE_SELECT } = constants;

/** Tables that the views read. */
const TABLES = new Set(['trace_summary', 'span', 'sheet_trace', 'export_body', 'spend_row']);
/** Functions that a query may read as a table. */
const TABLE_FUNCTIONS = new Set(['json_each']);
const VIEWS: ReadonlySet<string> = new Set(QUERY_VIEWS);
/**
 * Functions that may use unlimited memory or access files. This is a second check: `query-guard.ts` has already refused
 * all functions that are not in its list.
 */
const REFUSED_FUNCTIONS = new Set([
  'load_extension',
  'zeroblob',
  'randomblob',
  'printf',
  'format',
  'readfile',
  'writefile',
]);

/**
 * A limit without effect on the result. It keeps conditions of the query out of the view. Otherwise SQLite may evaluate
 * these conditions on other rows first, and an error would reveal values that the caller may not see.
 */
const BARRIER = ' limit -1';

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function conditionOf(visibility: Visibility): string {
  switch (visibility.kind) {
    case 'all':
      // This condition reads a column. SQLite reports a table without a read column as if the caller had named it.
      return "coalesce(key_hash, '') is not null";
    case 'team':
      return `team_id = ${quoted(visibility.teamId)}`;
    case 'key':
      return `coalesce(team_id, '') = '' and key_hash = ${quoted(visibility.keyHash)}`;
  }
}

/**
 * Replaces the views of a connection by temporary views with the visible rows only, and forbids everything else. The
 * stored text of each view becomes a view with a secret name, and only inside it tables can be read. The name must be
 * secret: SQLite reports the name of any subquery of the caller as if it were a view.
 */
export function restrict(database: DatabaseSync, visibility: Visibility, secret: string): void {
  const secrets = new Set<string>();
  for (const view of QUERY_VIEWS) {
    const row = database.prepare("select sql from main.sqlite_master where type = 'view' and name = ?").get(view);
    const body = String(row?.['sql']).replace(/^\s*create\s+view\s+"?\w+"?\s+as\s/i, '');
    const name = `${view}_${secret}`;
    secrets.add(name);
    database.exec(`create temp view "${name}" as ${body}`);
    const barrier = visibility.kind === 'all' ? '' : BARRIER;
    database.exec(`create temp view "${view}" as select * from "${name}" where ${conditionOf(visibility)}${barrier}`);
  }
  database.exec('pragma query_only = on');
  // For a read, `first` is the table and `second` the column. For a function, `second` is its name.
  database.setAuthorizer((action, first, second, schema, context) => {
    if (action === SQLITE_SELECT) return SQLITE_OK;
    const isInside = context !== null && secrets.has(context);
    if (action === SQLITE_FUNCTION) return isInside || !REFUSED_FUNCTIONS.has(second ?? '') ? SQLITE_OK : SQLITE_DENY;
    if (action !== SQLITE_READ || first === null) return SQLITE_DENY;
    // For a view of which no column is read, SQLite reports no column, and no schema unless the query names one. A name
    // without schema means the temporary view.
    const isColumnlessRead = schema === null && second === '';
    const isView = VIEWS.has(first) && (schema === 'temp' || isColumnlessRead);
    if (TABLE_FUNCTIONS.has(first) || secrets.has(first) || isView) return SQLITE_OK;
    return isInside && TABLES.has(first) ? SQLITE_OK : SQLITE_DENY;
  });
}
