import { type ExpressionBuilder, type Kysely, type Selectable } from 'kysely';
import type {
  CatalogHistory,
  ChangeFilters,
  ChangePosition,
  EntryHistory,
  RecordStep,
} from '../../domain/catalog/history.ts';
import { Conflict } from '../../domain/errors.ts';
import type { Database } from '../database/database.ts';
import { CatalogChangeEntity } from './entities/catalog-change.ts';
import { CatalogRecordedEntity } from './entities/catalog-recorded.ts';
import { CatalogSpanEntity } from './entities/catalog-span.ts';
import {
  columnNames,
  type EncodedRow,
  encodeRow,
  everyColumn,
  type RowTable,
  rowTable,
  rowsFrom,
  statements,
  textsIn,
} from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
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

/** Imported spans have no head. */
const NO_HEAD = { snapshot_id: null, taken_ms: null, seen_ms: null, confirmed_ms: null };

/** Most changes read of one entry. */
const MOST_OF_ENTRY = 500;

function passing(filters: ChangeFilters) {
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
export function createCatalogHistory({ orm, flavour, inFlight }: Database): CatalogHistory {
  const changeTable = rowTable(orm, 'catalog_change', CatalogChangeEntity);
  const recordedTable = rowTable(orm, 'catalog_recorded', CatalogRecordedEntity);
  const spanTable = rowTable(orm, 'catalog_span', CatalogSpanEntity);
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });
  const writing = <Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result> =>
    inFlight.write(() => transaction(orm, work));

  const spansIn = (db: Kysely<Tables>) =>
    db.selectFrom('catalog_span').select(everyColumn(spanTable)).$castTo<SpanRow>();
  const recordIn = (db: Kysely<Tables>) => spansIn(db).where('name', '=', RECORDED);

  async function insertSpan(db: Kysely<Tables>, row: SpanRow, present: 'keep' | 'move' | 'lengthen'): Promise<boolean> {
    const inserted = await db
      .insertInto('catalog_span')
      .columns(columnNames(spanTable))
      .expression(rowsFrom(flavour, spanTable, [encodeRow(spanTable, row)]))
      .onConflict((conflict) => {
        const same = conflict.column('name');
        if (present === 'keep') return same.doNothing();
        if (present === 'lengthen')
          return same
            .doUpdateSet(({ ref }) => ({ to_ms: ref('excluded.to_ms') }))
            .whereRef('excluded.to_ms', '>', 'catalog_span.to_ms');
        const { snapshot_id, taken_ms, seen_ms, confirmed_ms } = row;
        return same.doUpdateSet({ snapshot_id, taken_ms, seen_ms, confirmed_ms });
      })
      .returning('name')
      .execute();
    return inserted.length > 0;
  }

  /** Resolves to the number of new ones. */
  async function insertChanges(db: Kysely<Tables>, rows: Iterable<ChangeRow>): Promise<number> {
    let added = 0;
    for (const encoded of statements(encodedOf(changeTable, rows))) {
      const inserted = await db
        .insertInto('catalog_change')
        .columns(columnNames(changeTable))
        .expression(rowsFrom(flavour, changeTable, encoded))
        .onConflict((conflict) => conflict.column('key').doNothing())
        .returning('key')
        .execute();
      added += inserted.length;
    }
    return added;
  }

  async function writeEntries(db: Kysely<Tables>, entries: RecordStep['entries']): Promise<void> {
    const present = entries.flatMap(({ entryId, fields }) => (fields === null ? [] : [{ entryId, fields }]));
    for (const encoded of statements(encodedOf(recordedTable, present.values().map(recordedRowOf))))
      await db
        .insertInto('catalog_recorded')
        .columns(columnNames(recordedTable))
        .expression(rowsFrom(flavour, recordedTable, encoded))
        .onConflict((conflict) =>
          conflict.column('entry_id').doUpdateSet(({ ref }) => ({ fields: ref('excluded.fields') })),
        )
        .execute();
    const removed = entries.flatMap(({ entryId, fields }) => (fields === null ? [entryId] : []));
    if (removed.length > 0)
      await db.deleteFrom('catalog_recorded').where('entry_id', 'in', textsIn(flavour, removed)).execute();
  }

  async function record(db: Kysely<Tables>, { from, head, changes, entries }: RecordStep) {
    // The first step's row is the lock of all later steps: it is inserted before it is read.
    const isFirst = from === null && (await insertSpan(db, recordRowOf(head), 'keep'));
    if (!isFirst) {
      const row = await recordIn(db)
        .$if(flavour === 'postgresql', (query) => query.forUpdate())
        .executeTakeFirst();
      if (row === undefined) throw new Conflict('Nothing is recorded yet that this step could start from.');
      if (row.snapshot_id !== from) return headOf(row);
      await insertSpan(db, recordRowOf(head), 'move');
    }
    await insertChanges(db, changes.values().map(changeRowOf));
    await writeEntries(db, entries);
    return head;
  }

  /** The newest price changes, additions and removals: one more than the limit shows that there are older ones. */
  const newestOf = (entryIds: readonly string[]) => {
    const db = reading();
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

  const spans = async () => (await spansIn(reading()).orderBy('from_ms').orderBy('name').execute()).map(spanOf);

  return {
    head: () =>
      inFlight.run(async () => {
        const row = await recordIn(reading()).executeTakeFirst();
        return row === undefined ? null : headOf(row);
      }),
    recorded: (after, limit) =>
      inFlight.run(async () => {
        const rows = await reading()
          .selectFrom('catalog_recorded')
          .selectAll()
          .$if(after !== null, (query) => query.where('entry_id', '>', after))
          .orderBy('entry_id')
          .limit(limit)
          .$castTo<Selectable<Tables['catalog_recorded']>>()
          .execute();
        return rows.map(recordedOf);
      }),
    record: (step) => writing((db) => record(db, step)),
    confirm: (snapshotId, at) =>
      writing(async (db) => {
        await db
          .updateTable('catalog_span')
          .set({ confirmed_ms: at.getTime() })
          .where('name', '=', RECORDED)
          .where('snapshot_id', '=', snapshotId)
          .where('confirmed_ms', '<', at.getTime())
          .execute();
      }),
    importChanges: (changes, first) =>
      writing(async (db) => {
        const recordedFromMs = (await recordIn(db).executeTakeFirst())?.from_ms ?? Number.POSITIVE_INFINITY;
        const rows = changes.map((change, place) => changeRowOf(change, first + place));
        return insertChanges(
          db,
          rows.filter(({ at_ms }) => at_ms < recordedFromMs),
        );
      }),
    importSpan: (from, to) =>
      writing(async (db) => {
        const recordedFromMs = (await recordIn(db).executeTakeFirst())?.from_ms ?? Number.POSITIVE_INFINITY;
        const [from_ms, to_ms] = [from.getTime(), Math.min(to.getTime(), recordedFromMs)];
        if (from_ms >= recordedFromMs) return;
        const name = `imported ${from_ms}`;
        await insertSpan(db, { ...NO_HEAD, name, from_ms, to_ms }, 'lengthen');
      }),
    list: (filters, after, limit) =>
      inFlight.run(async () => {
        const passed = reading().selectFrom('catalog_change').select(everyColumn(changeTable)).where(passing(filters));
        const rows = await (after === null ? passed : passed.where(olderThan(after)))
          .orderBy('catalog_change.at_ms', 'desc')
          .orderBy('catalog_change.number', 'desc')
          .orderBy('catalog_change.key', 'desc')
          .limit(limit)
          .$castTo<ChangeRow>()
          .execute();
        return rows.map(listedOf);
      }),
    ofEntries: (wanted) =>
      inFlight.run(async () => {
        if (wanted.length === 0) return [];
        const entryIds = wanted.map(storable);
        // Recorded fields are read first, so that a concurrent change is in the changes that are read later.
        const recorded = await reading()
          .selectFrom('catalog_recorded')
          .selectAll()
          .where('entry_id', 'in', textsIn(flavour, entryIds))
          .$castTo<Selectable<Tables['catalog_recorded']>>()
          .execute();
        const covered = await spans();
        const fields = new Map(recorded.map((row) => [row.entry_id, recordedOf(row).fields]));
        const rows = Map.groupBy(await newestOf(entryIds), ({ entry_id }) => entry_id);
        return entryIds.map((entryId): EntryHistory => {
          const own = rows.get(entryId) ?? [];
          const complete = own.length <= MOST_OF_ENTRY;
          const changes = own.slice(complete ? 0 : -MOST_OF_ENTRY).map(changeOf);
          return { entryId, changes, complete, fields: fields.get(entryId) ?? null, spans: covered };
        });
      }),
    spans: () => inFlight.run(spans),
  };
}

function* encodedOf<Name extends keyof Tables>(
  table: RowTable<Name>,
  rows: Iterable<Parameters<typeof encodeRow<Name>>[1]>,
): Generator<EncodedRow> {
  for (const row of rows) yield encodeRow(table, row);
}
