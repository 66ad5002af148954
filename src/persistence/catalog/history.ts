import { type ExpressionBuilder, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type {
  CatalogHistory,
  ChangeFilters,
  ChangePosition,
  EntryHistory,
  RecordStep,
} from '../../domain/catalog/history.ts';
import { Conflict } from '../../domain/errors.ts';
import type { Database } from '../database/database.ts';
import { encodeRow, everyColumn, insertionInto, rowTable, statementBatches, textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import {
  changeOf,
  changeRowOf,
  type ChangeRow,
  headOf,
  listedOf,
  RECORDED,
  recordedOf,
  recordedRowOf,
  recordRowOf,
  spanOf,
  type SpanRow,
} from './rows.ts';
import { storable } from '../../domain/storable.ts';

/** Columns of the head: the most recently recorded state of the catalog. */
const HEAD_COLUMNS = ['snapshot_id', 'taken_ms', 'seen_ms', 'confirmed_ms'];
/** Imported periods have no head. */
const NO_HEAD = { snapshot_id: null, taken_ms: null, seen_ms: null, confirmed_ms: null };

/** Maximum number of changes of one entry in a result of `ofEntries`. */
const MOST_OF_ENTRY = 500;

function filterConditions(filters: ChangeFilters) {
  return (where: ExpressionBuilder<Tables, 'catalog_change'>) => {
    const { entryId, provider, field, kind, op, from, to } = filters;
    return where.and([
      ...(entryId === null ? [] : [where('entry_id', '=', storable(entryId))]),
      ...(provider === null ? [] : [where(where.fn('lower', ['provider']), '=', storable(provider).toLowerCase())]),
      ...(field === null ? [] : [where('field', '=', storable(field))]),
      ...(kind === null ? [] : [where('kind', '=', kind)]),
      ...(op === null ? [] : [where('op', '=', op)]),
      ...(from === null ? [] : [where('at_ms', '>=', from.getTime())]),
      ...(to === null ? [] : [where('at_ms', '<', to.getTime())]),
    ]);
  };
}

const olderThan =
  ({ atMs, number, key }: ChangePosition) =>
  ({ eb, refTuple, tuple }: ExpressionBuilder<Tables, 'catalog_change'>) =>
    eb(refTuple('at_ms', 'number', 'key'), '<', tuple(atMs, number, key));

/** The catalog's history as rows. */
export function createCatalogHistory({ orm, flavour, readRows, transact }: Database): CatalogHistory {
  const changeTable = rowTable(orm, 'catalog_change');
  const recordedTable = rowTable(orm, 'catalog_recorded');
  const spanTable = rowTable(orm, 'catalog_span');
  const orOnConflict = (action: RawBuilder<unknown>) =>
    insertionInto(flavour, spanTable, sql`on conflict (name) do ${action} returning name`);
  /** Inserts a period, by the action for a period that has this name already. */
  const putSpan = {
    keep: orOnConflict(sql`nothing`),
    updateHead: orOnConflict(
      sql`update set ${sql.join(HEAD_COLUMNS.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))}`,
    ),
    lengthen: orOnConflict(sql`update set to_ms = excluded.to_ms where excluded.to_ms > catalog_span.to_ms`),
  };
  const putChanges = insertionInto(flavour, changeTable, sql`on conflict (key) do nothing returning key`);
  const putEntries = insertionInto(
    flavour,
    recordedTable,
    sql`on conflict (entry_id) do update set fields = excluded.fields`,
  );

  const spansIn = (db: Kysely<Tables>) =>
    db.selectFrom('catalog_span').select(everyColumn(spanTable)).$castTo<SpanRow>();
  const recordIn = (db: Kysely<Tables>) => spansIn(db).where('name', '=', RECORDED);
  /** Start of the recorded period, Unix ms; infinite when nothing is recorded yet. */
  const recordedFrom = async (db: Kysely<Tables>): Promise<number> =>
    (await recordIn(db).executeTakeFirst())?.from_ms ?? Number.POSITIVE_INFINITY;

  /** Resolves to whether a row was inserted or updated. */
  async function insertSpan(db: Kysely<Tables>, row: SpanRow, onConflict: keyof typeof putSpan): Promise<boolean> {
    return (await putSpan[onConflict](db, [encodeRow(spanTable, row)])).length > 0;
  }

  /** Adds changes that are not stored yet; resolves to their number. */
  async function insertChanges(db: Kysely<Tables>, rows: Iterable<ChangeRow>): Promise<number> {
    let added = 0;
    for (const batch of statementBatches(Iterator.from(rows).map((row) => encodeRow(changeTable, row))))
      added += (await putChanges(db, batch)).length;
    return added;
  }

  async function writeEntries(db: Kysely<Tables>, entries: RecordStep['entries']): Promise<void> {
    const present = entries.flatMap(({ entryId, fields }) => (fields === null ? [] : [{ entryId, fields }]));
    for (const batch of statementBatches(present.map((entry) => encodeRow(recordedTable, recordedRowOf(entry)))))
      await putEntries(db, batch);
    const removed = entries.flatMap(({ entryId, fields }) => (fields === null ? [entryId] : []));
    if (removed.length > 0)
      await db.deleteFrom('catalog_recorded').where('entry_id', 'in', textsIn(flavour, removed)).execute();
  }

  async function record(db: Kysely<Tables>, { from, head, changes, entries }: RecordStep) {
    // Later steps lock the row that the first step inserts.
    const isFirst = from === null && (await insertSpan(db, recordRowOf(head), 'keep'));
    if (!isFirst) {
      const row = await recordIn(db)
        .$if(flavour === 'postgresql', (query) => query.forUpdate())
        .executeTakeFirst();
      if (row === undefined) throw new Conflict('Nothing is recorded yet that this step could start from.');
      const hasOtherHead = row.snapshot_id !== from;
      if (hasOtherHead) return headOf(row);
      await insertSpan(db, recordRowOf(head), 'updateHead');
    }
    await insertChanges(db, changes.values().map(changeRowOf));
    await writeEntries(db, entries);
    return head;
  }

  /**
   * The newest price changes, additions and removals, oldest first. For each entry up to `MOST_OF_ENTRY + 1`: the last
   * one shows that older changes exist.
   */
  const newestOf = (db: Kysely<Tables>, entryIds: readonly string[]) => {
    const ranked = db
      .selectFrom('catalog_change')
      .select(everyColumn(changeTable))
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) =>
            over
              .partitionBy('catalog_change.entry_id')
              .orderBy('catalog_change.at_ms', 'desc')
              .orderBy('catalog_change.number', 'desc')
              .orderBy('catalog_change.key', 'desc'),
          )
          .as('place'),
      )
      .where('entry_id', 'in', textsIn(flavour, entryIds))
      .where((where) => where.or([where('kind', '=', 'price'), where('field', 'is', null)]));
    return db
      .selectFrom(ranked.as('ranked'))
      .selectAll()
      .where('place', '<=', MOST_OF_ENTRY + 1)
      .orderBy('at_ms')
      .orderBy('number')
      .orderBy('key')
      .$castTo<ChangeRow>()
      .execute();
  };

  const spans = async (db: Kysely<Tables>) =>
    (await spansIn(db).orderBy('from_ms').orderBy('name').execute()).map(spanOf);

  return {
    head: () =>
      readRows(async (db) => {
        const row = await recordIn(db).executeTakeFirst();
        return row === undefined ? null : headOf(row);
      }),
    recorded: (after, limit) =>
      readRows(async (db) => {
        const rows = await db
          .selectFrom('catalog_recorded')
          .selectAll()
          .$if(after !== null, (query) => query.where('entry_id', '>', after))
          .orderBy('entry_id')
          .limit(limit)
          .$castTo<Selectable<Tables['catalog_recorded']>>()
          .execute();
        return rows.map(recordedOf);
      }),
    record: (step) => transact((db) => record(db, step)),
    confirm: (snapshotId, at) =>
      transact(async (db) => {
        await db
          .updateTable('catalog_span')
          .set({ confirmed_ms: at.getTime() })
          .where('name', '=', RECORDED)
          .where('snapshot_id', '=', snapshotId)
          .where('confirmed_ms', '<', at.getTime())
          .execute();
      }),
    importChanges: (changes, first) =>
      transact(async (db) => {
        const recordedFromMs = await recordedFrom(db);
        const rows = changes.map((change, place) => changeRowOf(change, first + place));
        const earlier = rows.filter(({ at_ms }) => at_ms < recordedFromMs);
        return insertChanges(db, earlier);
      }),
    importSpan: (from, to) =>
      transact(async (db) => {
        const recordedFromMs = await recordedFrom(db);
        const [from_ms, to_ms] = [from.getTime(), Math.min(to.getTime(), recordedFromMs)];
        if (from_ms >= recordedFromMs) return;
        const name = `imported ${from_ms}`;
        await insertSpan(db, { ...NO_HEAD, name, from_ms, to_ms }, 'lengthen');
      }),
    list: (filters, after, limit) =>
      readRows(async (db) => {
        const passed = db
          .selectFrom('catalog_change')
          .select(everyColumn(changeTable))
          .where(filterConditions(filters));
        const page = after === null ? passed : passed.where(olderThan(after));
        const rows = await page
          .orderBy('catalog_change.at_ms', 'desc')
          .orderBy('catalog_change.number', 'desc')
          .orderBy('catalog_change.key', 'desc')
          .limit(limit)
          .$castTo<ChangeRow>()
          .execute();
        return rows.map(listedOf);
      }),
    ofEntries: (wanted) =>
      readRows(async (db) => {
        if (wanted.length === 0) return [];
        const entryIds = wanted.map(storable);
        // Recorded fields are read before the changes, so that no change of these fields is missing.
        const recorded = await db
          .selectFrom('catalog_recorded')
          .selectAll()
          .where('entry_id', 'in', textsIn(flavour, entryIds))
          .$castTo<Selectable<Tables['catalog_recorded']>>()
          .execute();
        const covered = await spans(db);
        const fields = new Map(recorded.map((row) => [row.entry_id, recordedOf(row).fields]));
        const rows = Map.groupBy(await newestOf(db, entryIds), ({ entry_id }) => entry_id);
        return entryIds.map((entryId): EntryHistory => {
          const newest = rows.get(entryId) ?? [];
          const complete = newest.length <= MOST_OF_ENTRY;
          const changes = newest.slice(-MOST_OF_ENTRY).map(changeOf);
          return { entryId, changes, complete, fields: fields.get(entryId) ?? null, spans: covered };
        });
      }),
    spans: () => readRows(spans),
  };
}
