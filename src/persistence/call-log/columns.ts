import type { SpanRow } from '../traces/span-rows.ts';
import type { StoredRow } from '../spend/spend-rows.ts';
import type { NewSummaryRow } from '../traces/summary-rows.ts';

/**
 * The values of an encoded call, in the order of its row. The row of a call without extras ends before `call_id`. The
 * row of a call without the extra `labels` ends before `end_user`.
 */
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

/**
 * Optional parts of a call; `cached` stands for its cache and reasoning tokens. All calls of a profile have the same
 * extras.
 */
export const EXTRAS = ['call_id', 'preview', 'cached', 'error'] as const;
/**
 * Extras that were added after the first version. A profile has a flag for each extra. A profile of the first version
 * ends before the flags of these extras, which are then read as null.
 */
export const LATER_EXTRAS = ['labels'] as const;
export type Extra = (typeof EXTRAS)[number] | (typeof LATER_EXTRAS)[number];

/** Source of a column. */
export type Source =
  /** The profile of the call. */
  | { readonly from: 'profile' }
  /**
   * The call's own value. A call without the extra has the value `otherwise`, or the profile's value if `otherwise` is
   * absent.
   */
  | {
      readonly from: 'call';
      readonly value: CallValue;
      readonly extra?: Extra;
      /** The text `null` means SQL null instead of the profile's value. */
      readonly otherwise?: CallValue | 'null';
    }
  /** Computed from the call's values, in SQL of both engines. */
  | { readonly from: 'computed'; readonly of: (value: (name: CallValue) => string) => string }
  /** Body number, or place in the body, of the payload. */
  | { readonly from: 'body'; readonly part: 'number' | 'place' }
  /** Row number of the trace summary. */
  | { readonly from: 'summary' };

const fromProfile: Source = { from: 'profile' };
const fromCall = (value: CallValue, extra?: Extra): Source =>
  extra === undefined ? { from: 'call', value } : { from: 'call', value, extra };
/**
 * Null without the extra. It is not a profile value, because profiles of earlier versions have no value for these
 * columns.
 */
const fromCallOrNull = (value: CallValue, extra: Extra): Source => ({ from: 'call', value, extra, otherwise: 'null' });
const computed = (of: (value: (name: CallValue) => string) => string): Source => ({ from: 'computed', of });

const startNs = computed((value) => `${value('started_at')} * 1000000`);
const endNs = computed((value) => `${value('started_at')} * 1000000 + ${value('duration_ns')}`);
const inputTokens = computed((value) => `coalesce(${value('input_tokens')}, 0)`);
const outputTokens = computed((value) => `coalesce(${value('output_tokens')}, 0)`);

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
    trace_id: fromCall('trace_id'),
    span_id: fromCall('span_id'),
    id: fromCall('id'),
    call_id: { from: 'call', value: 'call_id', extra: 'call_id', otherwise: 'id' },
    response_id: fromCall('response_id'),
    call_type: fromProfile,
    key_hash: fromProfile,
    team_id: fromProfile,
    user_id: fromProfile,
    model_group: fromProfile,
    model: fromProfile,
    deployment_id: fromProfile,
    provider: fromProfile,
    input_tokens: fromCall('input_tokens'),
    output_tokens: fromCall('output_tokens'),
    cache_read_tokens: fromCall('cache_read_tokens', 'cached'),
    cache_write_tokens: fromCall('cache_write_tokens', 'cached'),
    reasoning_tokens: fromCall('reasoning_tokens', 'cached'),
    cost: fromCall('cost'),
    status: fromProfile,
    started_at: fromCall('started_at'),
    ended_at: computed((value) => `${value('started_at')} + ${value('duration_ns')} / 1000000`),
    first_byte_at: fromCall('first_byte_at'),
    error_code: fromCall('error_code', 'error'),
    error_message: fromCall('error_message', 'error'),
    end_user: fromCall('end_user', 'labels'),
    session_id: fromCall('session_id', 'labels'),
    tags: fromCall('tags', 'labels'),
    // Calls with guardrails are stored without the log.
    guardrails: computed(() => 'cast(null as text)'),
    // Calls with a cached answer are stored without the log.
    cache_hit_key: computed(() => 'cast(null as text)'),
    // Calls of auto routers, too.
    routing: computed(() => 'cast(null as text)'),
  },
  trace_summary: {
    trace_id: fromCall('trace_id'),
    trace_ref: fromCall('trace_ref'),
    team_id: fromProfile,
    key_hash: fromProfile,
    name: fromProfile,
    service: fromProfile,
    input_preview: fromCall('input_preview', 'preview'),
    // Null for a root. It is not a profile value, because profiles of earlier versions have no value for this column.
    preview_ns: computed(() => 'cast(null as bigint)'),
    root_ns: startNs,
    start_ns: startNs,
    end_ns: endNs,
    start_ms: fromCall('started_at'),
    status: fromProfile,
    span_count: fromProfile,
    agent_names: fromProfile,
    agent_invocations: fromProfile,
    llm_calls: fromProfile,
    tool_calls: fromProfile,
    error_count: fromProfile,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    models: fromProfile,
    frameworks: fromProfile,
    spend: fromCall('cost'),
    priced_calls: computed((value) => `case when ${value('cost')} is null then 0 else 1 end`),
    estimate: fromProfile,
    estimated_calls: fromProfile,
    source: fromProfile,
    redacted_ms: fromProfile,
    gateway_calls: fromProfile,
    session_id: fromCallOrNull('session_id', 'labels'),
    user_id: fromCallOrNull('end_user', 'labels'),
    tags: fromCallOrNull('trace_tags', 'labels'),
    // Bits: 1 if the root states a session, 2 if it states a user. The span of a call in the log is a root.
    root_labels: computed(
      (value) =>
        `case when ${value('session_id')} is null then 0 else 1 end + case when ${value('end_user')} is null then 0 else 2 end`,
    ),
  },
  span: {
    trace_no: { from: 'summary' },
    span_id: fromCall('span_id'),
    parent_span_id: fromProfile,
    name: fromProfile,
    kind: fromProfile,
    type: fromProfile,
    agent: fromProfile,
    service: fromProfile,
    start_ns: startNs,
    end_ns: endNs,
    status: fromProfile,
    error: fromCall('span_error', 'error'),
    model: fromProfile,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    input_preview: fromCall('input_preview', 'preview'),
    request_id: fromCall('response_id'),
    cost: fromCall('cost'),
    provider: fromProfile,
    framework: fromProfile,
    call_id: fromProfile,
    gateway: fromProfile,
    source: fromProfile,
    estimate: fromProfile,
    body_no: { from: 'body', part: 'number' },
    body_at: { from: 'body', part: 'place' },
    payload: fromProfile,
  },
};

/** The columns of a table, with their sources. */
export const columnsOf = (table: keyof CallTables): readonly (readonly [column: string, source: Source])[] =>
  Object.entries(CALL_COLUMNS[table]);

export const sourceOf = <Table extends keyof CallTables>(table: Table, column: keyof CallTables[Table]): Source =>
  CALL_COLUMNS[table][column];

interface ProfileColumn {
  readonly table: keyof CallTables;
  readonly column: string;
  /** Calls with this extra have their own value. Null: all calls have the value of the profile. */
  readonly unless: Extra | null;
}

function profileColumnsOf(table: keyof CallTables): readonly ProfileColumn[] {
  return columnsOf(table).flatMap(([column, source]): readonly ProfileColumn[] => {
    if (source.from === 'profile') return [{ table, column, unless: null }];
    const unless = source.from === 'call' && source.otherwise === undefined ? source.extra : undefined;
    return unless === undefined ? [] : [{ table, column, unless }];
  });
}

const ALL_PROFILE_COLUMNS: readonly ProfileColumn[] = [
  ...profileColumnsOf('spend_row'),
  ...profileColumnsOf('trace_summary'),
  ...profileColumnsOf('span'),
];
const isLater = ({ unless }: ProfileColumn): boolean => LATER_EXTRAS.some((extra) => extra === unless);

/** The columns whose values a profile contains, in this order. A flag, 0 or 1, for each of `EXTRAS` follows them. */
export const PROFILE_COLUMNS: readonly ProfileColumn[] = ALL_PROFILE_COLUMNS.filter((column) => !isLater(column));
/**
 * Columns that were added after the first version. Their values follow the calls of a profile, so that profiles of the
 * first version stay readable.
 */
export const LATER_PROFILE_COLUMNS: readonly ProfileColumn[] = ALL_PROFILE_COLUMNS.filter(isLater);
