import {
  calls,
  configurationLoads,
  graphList,
  growingTraces,
  spans,
  tracePages,
  updates,
  type Workload,
} from './workloads.ts';

/** A part of the product that a switch replaces by a library or a simple implementation. */
export interface Optimization {
  /** Name in the table of docs/performance.md. */
  readonly name: string;
  /** Column `Row` of that table: the work that the part was made for. */
  readonly row: string;
  /** Environment that switches the part off. */
  readonly off: Readonly<Record<string, string>>;
  readonly workload: Workload;
}

/** All rows of the table in docs/performance.md, in its order. */
export const OPTIMIZATIONS: readonly Optimization[] = [
  { name: 'fast path', row: 'a call, 16 clients', off: { LENSGATE_FAST_PATH: 'off' }, workload: calls() },
  {
    name: 'HTTP/1.1 client',
    row: 'a call, 16 connections',
    off: { LENSGATE_HTTP_CLIENT: 'undici' },
    workload: calls(),
  },
  {
    name: 'JSON scanner',
    row: 'prompts of 100 kB',
    off: { LENSGATE_JSON_SCAN: 'off' },
    workload: calls({ promptBytes: 100_000 }),
  },
  {
    name: 'call log',
    row: 'a call with its records',
    off: { LENSGATE_CALL_LOG: 'off' },
    workload: calls({ withDeferred: true }),
  },
  { name: 'span blocks', row: 'a span, one core', off: { LENSGATE_SPAN_BLOCKS: 'off' }, workload: spans() },
  {
    name: 'call notes',
    row: 'a span, 100 exports',
    off: { LENSGATE_CALL_NOTES: 'off' },
    workload: growingTraces(100),
  },
  {
    name: 'shared subscriptions',
    row: 'an event, 1,000 readers',
    off: { LENSGATE_SHARED_SUBSCRIPTIONS: 'off' },
    workload: updates(1_000),
  },
  {
    name: 'plans of repeated queries',
    row: 'a list of 50 entries',
    off: { LENSGATE_GRAPH_PLANS: 'off' },
    workload: graphList(),
  },
  {
    name: 'write coalescing',
    row: 'a call, 16 clients',
    off: { LENSGATE_WRITE_COALESCING: 'off' },
    workload: calls(),
  },
  { name: 'packed rows', row: 'a page of traces', off: { LENSGATE_PACKED_ROWS: 'off' }, workload: tracePages() },
  {
    name: 'plain YAML',
    row: 'loading a configuration',
    off: { LENSGATE_PLAIN_YAML: 'off' },
    workload: configurationLoads(1_000),
  },
];
