import type { SpanRow } from '../traces/span-rows.ts';
import type { StoredRow } from '../spend/spend-rows.ts';
import type { NewSummaryRow } from '../traces/summary-rows.ts';

/** The values of an encoded call, in the order of its row. Those from `call_id` on are present with extras only. */
export const CALL_VALUES = {
  trace_id: 'text',
  span_id: 'text',
  trace_ref: 'text',
  id: 'text',
  started_at: 'bigint',
  duration_ns: 'bigint',
  first_byte_at: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  response_id: 'text',
  cost: 'bigint',
  call_id: 'text',
  input_preview: 'text',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  error_code: 'text',
  error_message: 'text',
  span_error: 'text',
  end_user: 'text',
  session_id: 'text',
  tags: 'text',
  trace_tags: 'text',
} as const;
export type CallValue = keyof typeof CALL_VALUES;

/** Optional parts of a call. A profile lists the parts of its calls. */
export const EXTRAS = ['call_id', 'preview', 'cached', 'error'] as const;
/** Extras of later versions. A profile of an earlier version ends before them, which reads as null. */
export const LATER_EXTRAS = ['labels'] as const;
export type Extra = (typeof EXTRAS)[number] | (typeof LATER_EXTRAS)[number];

/** Source of a column. */
export type Source =
  /** The profile of the call. */
  | { readonly from: 'profile' }
  /** The call's own value; with `extra` only when the call has it, else `otherwise`, or else the profile. */
  | {
      readonly from: 'call';
      readonly value: CallValue;
      readonly extra?: Extra;
      /** `null` for null instead of the profile. */
      readonly otherwise?: CallValue | 'null';
    }
  /** Computed from the call's values, in SQL of both engines. */
  | { readonly from: 'sum'; readonly of: (value: (name: CallValue) => string) => string }
  /** Body number, or place in the body, of the payload. */
  | { readonly from: 'body'; readonly part: 'number' | 'place' }
  /** Row number of the trace summary. */
  | { readonly from: 'summary' };

const shared: Source = { from: 'profile' };
const own = (value: CallValue, extra?: Extra): Source =>
  extra === undefined ? { from: 'call', value } : { from: 'call', value, extra };
/** Null without the extra. No constant of a profile: segments of earlier versions have none for it. */
const ifSent = (value: CallValue, extra: Extra): Source => ({ from: 'call', value, extra, otherwise: 'null' });
const sum = (of: (value: (name: CallValue) => string) => string): Source => ({ from: 'sum', of });

const startNs = sum((value) => `${value('started_at')} * 1000000`);
const endNs = sum((value) => `${value('started_at')} * 1000000 + ${value('duration_ns')}`);
const inputTokens = sum((value) => `coalesce(${value('input_tokens')}, 0)`);
const outputTokens = sum((value) => `coalesce(${value('output_tokens')}, 0)`);

export interface CallTables {
  readonly spend_row: StoredRow;
  readonly trace_summary: NewSummaryRow;
  readonly span: SpanRow;
}

/** The source of every column that unfolding writes. The compiler reports a missing column. */
const CALL_COLUMNS: {
  readonly [Table in keyof CallTables]: Readonly<Record<keyof CallTables[Table], Source>>;
} = {
  spend_row: {
    trace_id: own('trace_id'),
    span_id: own('span_id'),
    id: own('id'),
    call_id: { from: 'call', value: 'call_id', extra: 'call_id', otherwise: 'id' },
    response_id: own('response_id'),
    call_type: shared,
    key_hash: shared,
    team_id: shared,
    user_id: shared,
    model_group: shared,
    model: shared,
    deployment_id: shared,
    provider: shared,
    input_tokens: own('input_tokens'),
    output_tokens: own('output_tokens'),
    cache_read_tokens: own('cache_read_tokens', 'cached'),
    cache_write_tokens: own('cache_write_tokens', 'cached'),
    reasoning_tokens: own('reasoning_tokens', 'cached'),
    cost: own('cost'),
    status: shared,
    started_at: own('started_at'),
    ended_at: sum((value) => `${value('started_at')} + ${value('duration_ns')} / 1000000`),
    first_byte_at: own('first_byte_at'),
    error_code: own('error_code', 'error'),
    error_message: own('error_message', 'error'),
    end_user: own('end_user', 'labels'),
    session_id: own('session_id', 'labels'),
    tags: own('tags', 'labels'),
    // Calls with guardrails are stored without the log.
    guardrails: sum(() => 'cast(null as text)'),
  },
  trace_summary: {
    trace_id: own('trace_id'),
    trace_ref: own('trace_ref'),
    team_id: shared,
    key_hash: shared,
    name: shared,
    service: shared,
    input_preview: own('input_preview', 'preview'),
    // Null for a root. No constant of a profile: segments of earlier versions have none for it.
    preview_ns: sum(() => 'cast(null as bigint)'),
    root_ns: startNs,
    start_ns: startNs,
    end_ns: endNs,
    start_ms: own('started_at'),
    status: shared,
    span_count: shared,
    agent_names: shared,
    agent_invocations: shared,
    llm_calls: shared,
    tool_calls: shared,
    error_count: shared,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    models: shared,
    frameworks: shared,
    spend: own('cost'),
    priced_calls: sum((value) => `case when ${value('cost')} is null then 0 else 1 end`),
    estimate: shared,
    estimated_calls: shared,
    source: shared,
    redacted_ms: shared,
    gateway_calls: shared,
    session_id: ifSent('session_id', 'labels'),
    user_id: ifSent('end_user', 'labels'),
    tags: ifSent('trace_tags', 'labels'),
    // Calls of the log are roots.
    root_labels: sum(
      (value) =>
        `case when ${value('session_id')} is null then 0 else 1 end + case when ${value('end_user')} is null then 0 else 2 end`,
    ),
  },
  span: {
    trace_no: { from: 'summary' },
    span_id: own('span_id'),
    parent_span_id: shared,
    name: shared,
    kind: shared,
    type: shared,
    agent: shared,
    service: shared,
    start_ns: startNs,
    end_ns: endNs,
    status: shared,
    error: own('span_error', 'error'),
    model: shared,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    input_preview: own('input_preview', 'preview'),
    request_id: own('response_id'),
    cost: own('cost'),
    provider: shared,
    framework: shared,
    call_id: shared,
    gateway: shared,
    source: shared,
    estimate: shared,
    body_no: { from: 'body', part: 'number' },
    body_at: { from: 'body', part: 'place' },
    payload: shared,
  },
};

/** The columns of a table, with their sources. */
export const columnsOf = (table: keyof CallTables): readonly (readonly [column: string, source: Source])[] =>
  Object.entries(CALL_COLUMNS[table]);

export const sourceOf = <Table extends keyof CallTables>(table: Table, column: keyof CallTables[Table]): Source =>
  CALL_COLUMNS[table][column];

interface Constant {
  readonly table: keyof CallTables;
  readonly column: string;
  /** With this extra the value is the call's own. */
  readonly unless: Extra | null;
}

function constantsOf(table: keyof CallTables): readonly Constant[] {
  return columnsOf(table).flatMap(([column, source]): readonly Constant[] => {
    if (source.from === 'profile') return [{ table, column, unless: null }];
    const unless = source.from === 'call' && source.otherwise === undefined ? source.extra : undefined;
    return unless === undefined ? [] : [{ table, column, unless }];
  });
}

const ALL_CONSTANTS: readonly Constant[] = [
  ...constantsOf('spend_row'),
  ...constantsOf('trace_summary'),
  ...constantsOf('span'),
];
const isLater = ({ unless }: Constant): boolean => LATER_EXTRAS.some((extra) => extra === unless);

/** The values of a profile, in their order. Its extras follow, as 0 and 1. */
export const CONSTANTS: readonly Constant[] = ALL_CONSTANTS.filter((one) => !isLater(one));
/** Values that stand behind the calls of a profile, so that profiles of earlier versions stay readable. */
export const LATER_CONSTANTS: readonly Constant[] = ALL_CONSTANTS.filter(isLater);
