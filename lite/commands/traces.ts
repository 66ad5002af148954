import { type Command, JSON_OUTPUT } from '../command.ts';
import type { Context } from '../context.ts';
import { cell, jsonText, plain, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, textOrNull, type Values } from '../values.ts';
import { timeText } from './models.ts';

const MS_PER_SECOND = 1_000;
/** Digits of a spend after the point: a call may cost a small part of a cent. */
const SPEND_DIGITS = 6;

const durationText = (ms: unknown): string => {
  const value = numberOrNull(ms);
  if (value === null) return '';
  return value < MS_PER_SECOND ? `${Math.round(value)} ms` : `${(value / MS_PER_SECOND).toFixed(1)} s`;
};

export const usdText = (value: unknown): string => {
  const usd = numberOrNull(value);
  return usd === null ? '' : `$${usd.toFixed(SPEND_DIGITS)}`;
};

/** Deeper spans are indented like this depth, so that a row fits the terminal. */
const MOST_INDENTS = 20;

const HEAD = ['Trace ID', 'Name', 'Start', 'Duration', 'Status', 'Calls', 'Tokens', 'Spend'];

function rowOf(trace: JsonObject): readonly string[] {
  const tokens = (numberOrNull(trace['input_tokens']) ?? 0) + (numberOrNull(trace['output_tokens']) ?? 0);
  return [
    cell(trace['trace_id']),
    cell(trace['name']),
    timeText(trace['start_time']),
    durationText(trace['duration_ms']),
    cell(trace['status']),
    cell(trace['llm_calls']),
    String(tokens),
    usdText(trace['spend']),
  ];
}

async function listTraces(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const query = { cursor: values.text('cursor') };
  const answer = await context.send('GET', '/v1/traces', { query });
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const page = jsonObjectOf(answer);
  const traces = itemsOf(page['data']).map(jsonObjectOf);
  if (traces.length === 0) return terminal.print('No traces found.');
  terminal.print(table('Traces', HEAD, traces.map(rowOf)));
  const next = textOrNull(page['next_cursor']);
  if (next !== null) terminal.print(`More: lite traces --cursor ${plain(next)}`);
}

/** Spans of a trace with their depth. Each span stands directly before its children. */
export function spanTree(spans: readonly JsonObject[]): readonly (readonly [number, JsonObject])[] {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  const children = new Map<unknown, JsonObject[]>();
  for (const span of spans) {
    const parent = ids.has(span['parent_span_id']) ? span['parent_span_id'] : null;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const rows: (readonly [number, JsonObject])[] = [];
  const seen = new Set<JsonObject>();
  // A list of open spans instead of recursion, because a trace may be deeper than the call stack.
  const open: (readonly [number, JsonObject])[] = (children.get(null) ?? []).toReversed().map((span) => [0, span]);
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const [depth, span] = entry;
    if (seen.has(span)) continue;
    seen.add(span);
    rows.push(entry);
    for (const child of (children.get(span['span_id']) ?? []).toReversed()) open.push([depth + 1, child]);
  }
  // Spans in a cycle of parents have no root, so they are not found above.
  return [...rows, ...spans.filter((span) => !seen.has(span)).map((span) => [0, span] as const)];
}

async function showTrace(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const path = `/v1/traces/${encodeURIComponent(values.operand(0))}`;
  const query = { trace_ref: values.text('ref') };
  const answer = await context.send('GET', path, { query });
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const trace = jsonObjectOf(answer);
  terminal.print(table('Trace', HEAD, [rowOf(jsonObjectOf(trace['summary']))]));
  const rows = spanTree(itemsOf(trace['spans']).map(jsonObjectOf)).map(([depth, span]) => [
    '  '.repeat(Math.min(depth, MOST_INDENTS)) + cell(span['name']),
    cell(span['type']),
    cell(span['model'] ?? ''),
    durationText(span['duration_ms']),
    cell(span['status']),
    usdText(span['spend']),
  ]);
  terminal.print(table('Spans', ['Span', 'Type', 'Model', 'Duration', 'Status', 'Spend'], rows));
  if (textOrNull(trace['next_cursor']) !== null) terminal.print('The trace has more spans. Read them with --json.');
}

const LIST = {
  options: { cursor: { type: 'string', help: 'Cursor of the page, printed below the page before' }, ...JSON_OUTPUT },
  failures: 'line',
  run: listTraces,
} as const;

export const traceCommands: readonly Command[] = [
  { ...LIST, names: ['traces'], summary: 'List the latest traces' },
  { ...LIST, names: ['traces', 'list'], summary: 'List the latest traces' },
  {
    names: ['traces', 'show'],
    summary: 'Show a trace with its spans',
    operands: ['trace-id'],
    options: { ref: { type: 'string', help: 'trace_ref, if several traces have the ID' }, ...JSON_OUTPUT },
    failures: 'line',
    run: showTrace,
  },
];
