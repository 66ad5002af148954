import {
  type EntityClass,
  LockMode,
  OptimisticLockError,
  raw,
  type RequiredEntityData,
  UniqueConstraintViolationException,
} from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import type { Visibility } from '../../domain/caller.ts';
import { Conflict, Unavailable } from '../../domain/errors.ts';
import type { AuditNoun } from '../../domain/audit-log/audit-entry.ts';
import type { ChangedRow, RowPage, RowPlace, RowStore } from '../../domain/row-store.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { storable, storableTime } from '../../domain/storable.ts';
import type { Database } from './database.ts';
import { type Declared, plainValues } from './plain-values.ts';
import { entityTransaction, steppedTransaction } from './transaction.ts';

/** Maximum number of attempts of a change that conflicts with concurrent changes. */
const ATTEMPTS = 5;

const OLDEST_FIRST: object = { createdAt: 'asc', id: 'asc' };

interface StoredRow {
  readonly id: string;
  readonly createdAt: Date;
}

/** Parts of a store of one noun. */
export interface RowStoreOptions<Row, Filter, Sort extends string> {
  /** Its properties are the members of a row, and, for rows that change, `revision`. */
  readonly entity: Declared;
  /** Name of a row in errors. */
  readonly noun: string;
  /** Name of the rows in the audit log; absent where their changes are not recorded. */
  readonly audited?: AuditNoun;
  /** Conditions of a filter, all of which must hold. Absent where no filter exists. */
  readonly where?: (filter: Filter) => readonly JsonObject[];
  /** SQL of the sort rank of a row, never null, for each sort except by time of creation. */
  readonly sortColumns?: Readonly<Record<Exclude<Sort, 'created_at'>, string>>;
  /** Sorts whose ranks are numbers: the text of a place is then a decimal number. Absent when all ranks are texts. */
  readonly numbers?: readonly NoInfer<Sort>[];
  /** Error message for a row with a unique value that another row has. */
  readonly conflictText: (row: Row) => string;
}

/** Escapes `%`, `_` and `\` for a `like` pattern. */
const escaped = (part: string): string => part.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);

/**
 * Condition that a column contains text, ignoring case. On SQLite, letters outside of ASCII match in the same case
 * only.
 */
const contains = (column: string, part: string): JsonObject => ({
  [raw(`lower(${column}) like lower(cast(? as text)) escape '\\'`, [`%${escaped(part)}%`])]: [],
});

/**
 * Condition that a row comes after a place in the order of a column, then of the id. The condition on the column alone
 * limits the range of an index that is read.
 */
export function afterPlace(column: string, [value, id]: readonly [unknown, string], descending: boolean): JsonObject {
  const [beyond, orAt] = descending ? ['$lt', '$lte'] : ['$gt', '$gte'];
  return { [column]: { [orAt]: value }, $or: [{ [column]: { [beyond]: value } }, { id: { [beyond]: id } }] };
}

/** Condition that a row comes after a place in the order of creation, or of a rank. */
function beyondPlace(
  place: RowPlace,
  { rank, beyond, isNumber }: { readonly rank: string; readonly beyond: '$lt' | '$gt'; readonly isNumber: boolean },
): JsonObject {
  if ('createdAt' in place) return afterPlace('createdAt', [place.createdAt, storable(place.id)], beyond === '$lt');
  const id = { [beyond]: storable(place.id) };
  const value = isNumber ? raw('cast(? as numeric)', [storable(place.text)]) : storable(place.text);
  return { $or: [{ [raw(rank)]: { [beyond]: value } }, { [raw(rank)]: value, id }] };
}

/** A change of one row in a transaction. */
interface RowChange<Stored, Row> {
  readonly noun: string;
  readonly read: (em: SqlEntityManager, isRetry: boolean) => Promise<Stored | null>;
  readonly rowOf: (stored: Stored) => Row;
  readonly change: (row: Row) => Row;
  readonly write: (em: SqlEntityManager, stored: Stored, changed: ChangedRow<Row>) => unknown;
  /** The conflict with another row; null when a concurrent change of the same row caused the failure. */
  readonly conflictOf: (row: Row, cause: unknown) => Conflict | null | Promise<Conflict | null>;
}

/**
 * Changes a row; resolves to null when it does not exist. The flush compares the revision of the row and fails after a
 * concurrent change: the change is then retried. Throws Conflict for a unique value of another row, and Unavailable
 * when all attempts fail.
 */
export const changeRow = <Stored, Row>(
  { orm, inFlight }: Database,
  { noun, read, rowOf, change, write, conflictOf }: RowChange<Stored, Row>,
): Promise<ChangedRow<Row> | null> =>
  inFlight.write(async () => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const changes: ChangedRow<Row>[] = [];
      try {
        await entityTransaction(orm, async (em) => {
          const stored = await read(em, attempt > 0);
          if (stored === null) return;
          const before = rowOf(stored);
          const changed = { before, after: change(before) };
          changes.push(changed);
          await write(em, stored, changed);
        });
        return changes[0] ?? null;
      } catch (error) {
        if (error instanceof OptimisticLockError) continue;
        const [changed] = changes;
        if (!(error instanceof UniqueConstraintViolationException) || changed === undefined) throw error;
        const conflict = await conflictOf(changed.after, error);
        if (conflict !== null) throw conflict;
      }
    }
    throw new Unavailable(`The ${noun} is being changed by other requests. Try again.`);
  });

/** Rows of a noun as managed entities: one fork of the entity manager for each method call. */
export function createRowStore<Row extends StoredRow, Filter, Sort extends string>(
  database: Database,
  {
    entity: declared,
    noun,
    audited,
    where = () => [],
    sortColumns,
    numbers,
    conflictText,
  }: RowStoreOptions<Row, Filter, Sort>,
): RowStore<Row, Filter, Sort> {
  const { orm, inFlight, audit, change: changeEntities } = database;
  const entity = declared.class as EntityClass<object>;
  const rowOf = plainValues(orm, declared) as (stored: object) => Row;

  const query = (conditions: readonly JsonObject[]): object => ({ $and: [...conditions] });
  const conflictOf = (row: Row, cause: unknown): Conflict => new Conflict(conflictText(row), { cause });

  /** Adds rows in one transaction, with a statement for each, so that the Conflict names the row that caused it. */
  async function addOneByOne(rows: readonly Row[], record: ReturnType<typeof audit.forNoun>): Promise<void> {
    const adding: Row[] = [];
    try {
      await steppedTransaction(orm, rows, (em, row) => {
        adding.push(row);
        createEntity(em, row, record);
      });
    } catch (error) {
      const last = adding.at(-1);
      if (!(error instanceof UniqueConstraintViolationException) || last === undefined) throw error;
      throw conflictOf(last, error);
    }
  }

  function createEntity(em: SqlEntityManager, row: Row, record: ReturnType<typeof audit.forNoun>): void {
    em.create(entity, { ...row } as unknown as RequiredEntityData<object>);
    record(em, { before: null, after: row });
  }

  const findRows = async (conditions: readonly JsonObject[]): Promise<readonly Row[]> =>
    (await orm.em.fork().find(entity, query(conditions), { orderBy: OLDEST_FIRST })).map(rowOf);

  async function listRows({ filter, sort, descending, limit, from }: RowPage<Filter, Sort>): Promise<readonly Row[]> {
    const direction = descending ? 'desc' : 'asc';
    const beyond = descending ? '$lt' : '$gt';
    const isNumber = numbers?.includes(sort) === true;
    const rank = new Map<string, string>(Object.entries({ ...sortColumns })).get(sort) ?? 'created_at';
    // `from` is the number of rows to skip, or the place of the last row before the page.
    const after = typeof from === 'number' ? [] : [beyondPlace(from, { rank, beyond, isNumber })];
    const options = {
      orderBy: [{ [raw(rank)]: direction }, { id: direction }],
      limit,
      ...(typeof from === 'number' ? { offset: from } : {}),
    };
    return (await orm.em.fork().find(entity, query([...where(filter), ...after]), options as object)).map(rowOf);
  }

  return {
    add(...rows) {
      const record = audit.forNoun(audited);
      return inFlight.write(async () => {
        try {
          await entityTransaction(orm, (em) => {
            for (const row of rows) createEntity(em, row, record);
          });
        } catch (error) {
          const [first, ...more] = rows;
          if (!(error instanceof UniqueConstraintViolationException) || first === undefined) throw error;
          if (more.length === 0) throw conflictOf(first, error);
          await addOneByOne(rows, record);
        }
      });
    },
    find: (id) => inFlight.read(async () => (await findRows([{ id: storable(id) }]))[0] ?? null),
    findMany: (ids) => inFlight.read(() => findRows(matching({ id: ids }))),
    all: (filter) => inFlight.read(() => findRows(where(filter))),
    list: (page) => inFlight.run(() => listRows(page)),
    count: (filter) => inFlight.run(() => orm.em.fork().count(entity, query(where(filter)))),
    change(id, change) {
      const record = audit.forNoun(audited);
      return changeRow(database, {
        noun,
        // Locked after a conflict, so that concurrent changes wait for each other.
        read: (em, isRetry) =>
          em.findOne(entity, query([{ id: storable(id) }]), isRetry ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}),
        rowOf,
        change,
        write(em, stored, changed) {
          record(em, changed);
          Object.assign(stored, changed.after);
        },
        conflictOf,
      });
    },
    remove(ids) {
      const record = audit.forNoun(audited);
      return changeEntities(async (em) => {
        const stored = await em.find(entity, query(matching({ id: ids })));
        const rows = stored.map(rowOf);
        for (const one of stored) em.remove(one);
        for (const row of rows) record(em, { before: row, after: null });
        return rows;
      });
    },
  };
}

type Value = string | boolean | readonly string[] | null | undefined;

/** Conditions that each member has its value, or one of its values; none for null or undefined. */
export const matching = (members: Readonly<Record<string, Value>>): readonly JsonObject[] =>
  Object.entries(members).flatMap(([name, value]): readonly JsonObject[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'boolean') return [{ [name]: value }];
    return [{ [name]: typeof value === 'string' ? storable(value) : { $in: value.map(storable) } }];
  });

/** Condition that a column contains text; none for null or undefined. */
export const containing = (column: string, part: string | null | undefined): readonly JsonObject[] =>
  part === null || part === undefined ? [] : [contains(column, storable(part))];

/** Condition that the member `name` is not after `time`; none for undefined. A member that is null does not match. */
export const until = (name: string, time: Date | undefined): readonly JsonObject[] =>
  time === undefined ? [] : [{ [name]: { $lte: storableTime(time) } }];

/** Conditions that a row was created at `from` or later, and before `to`; none for null or undefined. */
export const createdWithin = (from: Date | null | undefined, to: Date | null | undefined): readonly JsonObject[] => [
  ...(from ? [{ createdAt: { $gte: storableTime(from) } }] : []),
  ...(to ? [{ createdAt: { $lt: storableTime(to) } }] : []),
];

/** Conditions of the rows that a reader may see, by the rule of `mayRead`. The rows have a key and a nullable team. */
export function visibleTo(visible: Visibility): readonly JsonObject[] {
  switch (visible.kind) {
    case 'all':
      return [];
    case 'team':
      return matching({ teamId: visible.teamId });
    case 'key':
      return [{ teamId: null, keyHash: storable(visible.keyHash) }];
  }
}
