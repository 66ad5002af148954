import type { StoresOptions } from '../options.ts';
import type { ClickHouse } from './client.ts';

const timeOf = (column: string): string => `fromUnixTimestamp64Nano(${column}, 'UTC')`;
/** SQL of a column of picodollars as an exact decimal of US dollars. */
const usd = (column: string): string => `toDecimal128(${column}, 12) / 1000000000000`;

/**
 * Spans and traces in plain columns (docs/sql-views.md). `final` hides old versions. Span rows of earlier releases have
 * no `gateway`. In these rows, a cost implies a span of the gateway.
 */
export const VIEW_QUERIES = {
  spans: `select
    trace_id, span_id, parent_span_id, name, kind, type, nullIf(agent, '') as agent, nullIf(service, '') as service,
    ${timeOf('start_ns')} as start_time, ${timeOf('end_ns')} as end_time, (end_ns - start_ns) / 1000000 as duration_ms,
    status, error, model, provider, framework, input_tokens, output_tokens, ${usd('cost')} as cost_usd,
    ${usd('estimate')} as estimated_cost_usd, toBool(ifNull(gateway = 1, false) or isNotNull(cost)) as gateway, request_id, call_id,
    nullIf(team_id, '') as team_id, key_hash, input_preview, start_ns, end_ns
  from span final`,
  traces: `select
    trace_id, name, nullIf(service, '') as service, ${timeOf('start_ns')} as start_time, ${timeOf('end_ns')} as end_time,
    (end_ns - start_ns) / 1000000 as duration_ms, status, span_count, error_count, llm_calls, gateway_calls, tool_calls,
    agent_invocations, agent_names, models, frameworks, input_tokens, output_tokens, ${usd('spend')} as cost_usd,
    ${usd('estimate')} as estimated_cost_usd, priced_calls, estimated_calls, nullIf(team_id, '') as team_id, key_hash,
    input_preview, fromUnixTimestamp64Milli(redacted_ms, 'UTC') as redacted_time, start_ns, end_ns
  from trace_summary final`,
} as const;

/**
 * Creates the views for people with `clickhouse client`, or replaces the views of an earlier release. The store does
 * not need the views. A failure, usually a missing right to create views, is logged as a warning.
 */
export async function createViews(server: Pick<ClickHouse, 'run'>, log: StoresOptions['log']): Promise<void> {
  try {
    for (const [name, query] of Object.entries(VIEW_QUERIES))
      await server.run(`create or replace view ${name} as ${query}`);
  } catch (error) {
    log.warn({ err: error }, 'The views `spans` and `traces` were not created: grant `create view` and `drop view`.');
  }
}
