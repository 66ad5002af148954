import type { Selectable } from 'kysely';
import type { Usage } from '../../domain/chat/chat.ts';
import { ZERO_USD, addUsd, type Usd } from '../../domain/money.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import { truncateLabel } from '../../domain/spend/label.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import { amountText, storable, storableOrNull } from '../../domain/storable.ts';
import type { Tables } from '../database/tables.ts';

/** A spend row as it is stored. */
export type StoredRow = Selectable<Tables['spend_row']>;

export function storedRowOf(row: SpendRow): StoredRow {
  const { usage, error } = row;
  return {
    trace_id: row.traceId,
    span_id: row.spanId,
    id: row.id,
    call_id: storable(row.callId),
    response_id: storableOrNull(row.responseId),
    call_type: row.callType,
    key_hash: row.keyHash,
    team_id: storableOrNull(nullIfBlank(row.teamId)),
    user_id: storableOrNull(nullIfBlank(row.userId)),
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
    end_user: storableOrNull(row.endUser),
    session_id: storableOrNull(row.sessionId),
    tags: row.tags.length === 0 ? null : tagsText(row.tags),
    guardrails: row.guardrails === undefined ? null : storable(JSON.stringify(row.guardrails)),
    cache_hit_key: storableOrNull(row.cacheHitKey ?? null),
    routing: row.routing === undefined ? null : storable(JSON.stringify(row.routing)),
  };
}

/** The stored text of tags. */
export const tagsText = (tags: readonly string[]): string => JSON.stringify(tags.map(storable));

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

export function spendRowOf(row: StoredRow): SpendRow {
  return {
    id: row.id,
    callId: row.call_id,
    responseId: row.response_id,
    callType: row.call_type,
    keyHash: row.key_hash,
    teamId: nullIfBlank(row.team_id),
    userId: row.user_id,
    endUser: row.end_user,
    sessionId: row.session_id,
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as readonly string[]),
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
    ...(row.cache_hit_key === null ? {} : { cacheHitKey: row.cache_hit_key }),
    ...(row.routing === null ? {} : { routing: JSON.parse(row.routing) as NonNullable<SpendRow['routing']> }),
    ...(row.guardrails === null
      ? {}
      : { guardrails: JSON.parse(row.guardrails) as NonNullable<SpendRow['guardrails']> }),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  };
}

/** Costs per key, in the order of the keys, so that all processes lock totals in the same order. */
export function costsByKey(
  rows: readonly Pick<SpendRow, 'keyHash' | 'cost'>[],
): readonly { readonly key_hash: string; readonly total: string }[] {
  const totals = new Map<string, Usd>();
  for (const { keyHash, cost } of rows)
    if (cost !== null) totals.set(keyHash, addUsd(totals.get(keyHash) ?? ZERO_USD, cost));
  return [...totals]
    .map(([keyHash, total]) => ({ key_hash: keyHash, total: amountText(total) }))
    .toSorted((left, right) => (left.key_hash < right.key_hash ? -1 : 1));
}

/** Costs per tag, then per end user. */
export function costsByLabel(
  calls: readonly {
    readonly cost: SpendRow['cost'];
    readonly labels: Pick<SpendRow, 'endUser' | 'tags'> | null;
  }[],
): readonly { readonly kind: string; readonly label: string; readonly total: string }[] {
  const totals = { tag: new Map<string, Usd>(), end_user: new Map<string, Usd>() };
  const add = (sums: Map<string, Usd>, name: string, cost: Usd): void => {
    const label = truncateLabel(storable(name));
    sums.set(label, addUsd(sums.get(label) ?? ZERO_USD, cost));
  };
  for (const { cost, labels } of calls) {
    if (cost === null || labels === null) continue;
    for (const tag of labels.tags) add(totals.tag, tag, cost);
    if (labels.endUser !== null) add(totals.end_user, labels.endUser, cost);
  }
  return Object.entries(totals).flatMap(([kind, sums]) =>
    [...sums].map(([label, total]) => ({ kind, label, total: amountText(total) })),
  );
}

/**
 * Costs or other amounts per budget window, in the order of the names of windows, so that all processes lock totals in
 * the same order.
 */
export function costsByWindow(
  rows: readonly (Pick<SpendRow, 'cost'> & { readonly windows?: SpendRow['windows'] | undefined })[],
): readonly { readonly window: string; readonly end_ms: number; readonly total: string }[] {
  const totals = new Map<string, { readonly endMs: number; readonly total: Usd }>();
  for (const { cost, windows } of rows) {
    if (windows === undefined) continue;
    for (const { name, endMs, amount = cost } of windows) {
      if (amount === null) continue;
      const known = totals.get(name);
      totals.set(name, { endMs, total: addUsd(known?.total ?? ZERO_USD, amount as Usd) });
    }
  }
  return [...totals]
    .map(([window, { endMs, total }]) => ({ window, end_ms: endMs, total: amountText(total) }))
    .toSorted((left, right) => (left.window < right.window ? -1 : 1));
}
