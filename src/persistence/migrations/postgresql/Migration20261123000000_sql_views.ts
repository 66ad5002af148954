import { Migration } from '@mikro-orm/migrations';

/** In the order of a row's values in a block of spans (ADR 0039). */
const BLOCK_COLUMNS = [
  'span_id',
  'parent_span_id',
  'name',
  'kind',
  'type',
  'agent',
  'service',
  'start_ns',
  'end_ns',
  'status',
  'error',
  'model',
  'input_tokens',
  'output_tokens',
  'input_preview',
  'request_id',
  'cost',
  'body_at',
  'payload',
  'provider',
  'framework',
  'call_id',
  'gateway',
  'source',
  'estimate',
] as const;
/** Columns that are cast to numbers: 64-bit numbers are text in a block. */
const NUMBERS = new Set<string>(['start_ns', 'end_ns', 'input_tokens', 'output_tokens', 'cost', 'gateway', 'estimate']);
const HIDDEN = new Set<string>(['body_at', 'payload', 'source']);
const READ = BLOCK_COLUMNS.filter((name) => !HIDDEN.has(name));

/** Exact to the microsecond, the resolution of the type. */
const timeOfNs = (column: string): string => `(timestamptz 'epoch' + (${column} / 1000) * interval '1 microsecond')`;
const timeOfMs = (column: string): string => `(timestamptz 'epoch' + ${column} * interval '1 millisecond')`;
/** Picodollars as an exact decimal. */
const usdOrNull = (column: string): string => `cast(${column} * 0.000000000001 as numeric(24, 12))`;

const fromBlock = BLOCK_COLUMNS.flatMap((name, place) => {
  if (HIDDEN.has(name)) return [];
  const value = `h.value ->> ${place}`;
  return [`${NUMBERS.has(name) ? `cast(${value} as bigint)` : value} as "${name}"`];
}).join(', ');
const fromRow = READ.map((name) => `s."${name}"`).join(', ');

const spanColumns = (from: string): string => `
  t.trace_id, s.span_id, s.parent_span_id, s.name, s.kind, s.type, nullif(s.agent, '') as agent,
  nullif(s.service, '') as service, ${timeOfNs('s.start_ns')} as start_time, ${timeOfNs('s.end_ns')} as end_time,
  (s.end_ns - s.start_ns) / 1e6 as duration_ms, s.status, s.error, s.model, s.provider, s.framework,
  s.input_tokens, s.output_tokens, ${usdOrNull('s.cost')} as cost_usd, ${usdOrNull('s.estimate')} as estimated_cost_usd,
  coalesce(s.gateway = 1, false) or s.cost is not null as gateway, s.request_id, s.call_id, nullif(t.team_id, '') as team_id,
  t.key_hash, s.input_preview, s.start_ns, s.end_ns
  from trace_summary t ${from}`;

/**
 * Spans, traces and spend in plain columns, for people with `psql` (docs/sql-views.md). A later migration that
 * renames or rebuilds one of the tables drops the views first and creates them again.
 */
export class Migration20261123000000_sql_views extends Migration {
  override up(): void {
    this.addSql(`
      create view "spans" as
      select ${spanColumns(`join (select trace_no, ${fromRow} from span s) s on s.trace_no = t.trace_no`)}
      union all
      select ${spanColumns(`join (
        select p.trace_no, ${fromBlock}
        from sheet_trace p join export_body b on b.body_no = p.body_no cross join lateral
          jsonb_array_elements(convert_from(substring(b.heads from p.at + 1 for p.length), 'UTF8')::jsonb) h
        where p.spans > 0
      ) s on s.trace_no = t.trace_no`)}
    `);
    this.addSql(`
      create view "traces" as
      select trace_id, name, nullif(service, '') as service, ${timeOfNs('start_ns')} as start_time,
        ${timeOfNs('end_ns')} as end_time, (end_ns - start_ns) / 1e6 as duration_ms, status, span_count,
        error_count, llm_calls, gateway_calls, tool_calls, agent_invocations, agent_names, models, frameworks,
        input_tokens, output_tokens, ${usdOrNull('spend')} as cost_usd, ${usdOrNull('estimate')} as estimated_cost_usd,
        priced_calls, estimated_calls, nullif(team_id, '') as team_id, key_hash, input_preview,
        ${timeOfMs('redacted_ms')} as redacted_time, start_ns, end_ns
      from trace_summary where span_count > 0
    `);
    this.addSql(`
      create view "spend" as
      select id, call_id, response_id, call_type, trace_id, span_id, key_hash, team_id, user_id, model_group, model,
        provider, deployment_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
        ${usdOrNull('cost')} as cost_usd, status, ${timeOfMs('started_at')} as start_time,
        ${timeOfMs('ended_at')} as end_time, ${timeOfMs('first_byte_at')} as first_byte_time, error_code, error_message
      from spend_row
    `);
  }

  override down(): void {
    for (const view of ['spans', 'traces', 'spend']) this.addSql(`drop view "${view}"`);
  }
}
