import { sql, type Kysely, type Selectable } from 'kysely';
import type { Usage } from '../../domain/chat/chat.ts';
import { ZERO_USD, addUsd, type Usd } from '../../domain/money.ts';
import type { SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import type { Database } from '../database.ts';
import { isDuplicate } from '../faults.ts';
import { KeySpendEntity } from '../entities/key-spend.ts';
import { SpendRowEntity } from '../entities/spend-row.ts';
import { type EncodedRow, encodeRow, everyColumn, insertionInto, rowTable, tuplesIn } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { transaction } from '../transaction.ts';
import { amountText, storable, storableOrNull } from '../../domain/storable.ts';

type StoredRow = Selectable<Tables['spend_row']>;

function storedRowOf(row: SpendRow): StoredRow {
  const { usage, error } = row;
  return {
    trace_id: row.traceId,
    span_id: row.spanId,
    id: row.id,
    call_id: storable(row.callId),
    response_id: storableOrNull(row.responseId),
    call_type: row.callType,
    key_hash: row.keyHash,
    team_id: storableOrNull(row.teamId),
    user_id: storableOrNull(row.userId),
    model_group: storable(row.modelGroup),
    model: storable(row.model),
    deployment_id: row.deploymentId,
    provider: row.provider,
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    cache_read_tokens: usage?.cacheReadTokens ?? null,
    cache_write_tokens: usage?.cacheWriteTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
    cost: row.cost === null ? null : amountText(row.cost),
    status: row.status,
    started_at: row.startedAt.getTime(),
    ended_at: row.endedAt.getTime(),
    first_byte_at: row.firstByteAt?.getTime() ?? null,
    error_code: storableOrNull(error?.code ?? null),
    error_message: storableOrNull(error?.message ?? null),
  };
}

function usageOf(row: StoredRow): Usage | null {
  if (row.input_tokens === null) return null;
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens ?? 0,
    cacheReadTokens: row.cache_read_tokens ?? 0,
    cacheWriteTokens: row.cache_write_tokens ?? 0,
    reasoningTokens: row.reasoning_tokens ?? 0,
  };
}

function spendRowOf(row: StoredRow): SpendRow {
  return {
    id: row.id,
    callId: row.call_id,
    responseId: row.response_id,
    callType: row.call_type,
    keyHash: row.key_hash,
    teamId: row.team_id,
    userId: row.user_id,
    modelGroup: row.model_group,
    model: row.model,
    deploymentId: row.deployment_id,
    provider: row.provider,
    usage: usageOf(row),
    cost: row.cost === null ? null : (BigInt(row.cost) as Usd),
    status: row.status,
    startedAt: new Date(row.started_at),
    endedAt: new Date(row.ended_at),
    firstByteAt: row.first_byte_at === null ? null : new Date(row.first_byte_at),
    traceId: row.trace_id,
    spanId: row.span_id,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  };
}

const keyOf = ({ traceId, spanId, id }: Pick<SpendRow, 'traceId' | 'spanId' | 'id'>): string =>
  `${traceId}:${spanId}:${id}`;

function compareKeys(left: SpendRow, right: SpendRow): number {
  if (left.traceId !== right.traceId) return left.traceId < right.traceId ? -1 : 1;
  if (left.spanId !== right.spanId) return left.spanId < right.spanId ? -1 : 1;
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}

/** Each row once, the first of its key, in the order of the keys: two processes then wait for each other in one order. */
function inOrder(rows: readonly SpendRow[]): readonly SpendRow[] {
  const sorted = rows.toSorted(compareKeys);
  return sorted.filter((row, position) => {
    const before = sorted[position - 1];
    return before === undefined || compareKeys(before, row) !== 0;
  });
}

/** What the rows cost, per key, in the order of the keys: two processes then lock totals in one order. */
function costsByKey(rows: readonly SpendRow[]): readonly { readonly key_hash: string; readonly total: string }[] {
  const totals = new Map<string, Usd>();
  for (const { keyHash, cost } of rows)
    if (cost !== null) totals.set(keyHash, addUsd(totals.get(keyHash) ?? ZERO_USD, cost));
  return [...totals]
    .map(([keyHash, total]) => ({ key_hash: keyHash, total: amountText(total) }))
    .toSorted((left, right) => (left.key_hash < right.key_hash ? -1 : 1));
}

/** Spend as rows; see `entities/key-spend.ts` for the totals beside them. */
export function createSpendStore({ orm, flavour, inFlight }: Database): SpendStore {
  const spendRows = rowTable(orm, 'spend_row', SpendRowEntity);
  const totals = rowTable(orm, 'key_spend', KeySpendEntity);
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  const insert = insertionInto(flavour, spendRows);
  const insertNew = insertionInto(
    flavour,
    spendRows,
    sql`on conflict (trace_id, span_id, id) do nothing returning trace_id, span_id, id`,
  );
  const addTotals = insertionInto(
    flavour,
    totals,
    sql`on conflict (key_hash) do update set total = key_spend.total + excluded.total`,
  );
  const encoded = (rows: readonly SpendRow[]): readonly EncodedRow[] =>
    rows.map((row) => encodeRow(spendRows, storedRowOf(row)));

  async function addToTotals(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    const costs = costsByKey(rows);
    if (costs.length === 0) return;
    await addTotals(
      db,
      costs.map((cost) => encodeRow(totals, cost)),
    );
  }

  /** As almost always, no row is stored yet. Fails for all when one is. */
  async function appendFresh(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    await insert(db, encoded(rows));
    await addToTotals(db, rows);
  }

  /** Asks for every row whether it was new, which costs as much as storing it. */
  async function appendNew(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    const inserted = await insertNew<Pick<StoredRow, 'trace_id' | 'span_id' | 'id'>>(db, encoded(rows));
    const news = new Set(inserted.map((row) => keyOf({ traceId: row.trace_id, spanId: row.span_id, id: row.id })));
    await addToTotals(
      db,
      rows.filter((row) => news.has(keyOf(row))),
    );
  }

  return {
    append: (rows) =>
      inFlight.run(async () => {
        if (rows.length === 0) return;
        const distinct = inOrder(rows);
        try {
          await transaction(orm, (db) => appendFresh(db, distinct));
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          await transaction(orm, (db) => appendNew(db, distinct));
        }
      }),
    findBySpans: (spanKeys) =>
      inFlight.run(async () => {
        if (spanKeys.length === 0) return [];
        const rows = await reading()
          .selectFrom('spend_row')
          .select(everyColumn(spendRows))
          .where(
            sql`(trace_id, span_id)`,
            'in',
            tuplesIn(
              flavour,
              2,
              spanKeys.map((key) => key.split(':', 2)),
            ),
          )
          .$castTo<StoredRow>()
          .execute();
        return rows.map(spendRowOf);
      }),
    totalOf: (keyHash) =>
      inFlight.run(async () => {
        const row = await reading()
          .selectFrom('key_spend')
          .select(sql<string>`cast(total as text)`.as('total'))
          .where('key_hash', '=', keyHash)
          .executeTakeFirst();
        return row ? (BigInt(row.total) as Usd) : ZERO_USD;
      }),
  };
}
