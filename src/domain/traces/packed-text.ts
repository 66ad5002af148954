import type { Usd } from '../money.ts';
import type { PackedExport, PackedTrace } from './packed.ts';
import type { PackedCalls } from './packed-calls.ts';
import type { SpanRows } from './span-rows.ts';
import type { TraceTally } from './trace.ts';

/**
 * What was read of an export, on its way from one thread to another. A text is cloned as one piece, where every member
 * of every object costs as much again: so what is many and small travels as JSON. Rows stay apart, one text a trace:
 * a letter beyond Latin-1 doubles the text that it is in, and shall not double others.
 */
export interface PackedText {
  readonly facts: string;
  /** In the order of the traces. */
  readonly rows: readonly SpanRows[];
  /** In the order of the names among the facts. */
  readonly calls: readonly string[];
}

/** JSON has no bigint. */
interface StoredTally extends Omit<TraceTally, 'startNs' | 'endNs' | 'spend' | 'estimate'> {
  readonly startNs: string;
  readonly endNs: string;
  readonly spend: string | null;
  readonly estimate: string | null;
}

interface Facts {
  readonly traces: readonly (Omit<PackedTrace, 'tally' | 'rows'> & { readonly tally: StoredTally })[];
  readonly names: readonly Omit<PackedCalls, 'text'>[];
}

/** All of an export but its body, as text. */
export function packedText({ traces, calls }: Omit<PackedExport, 'body'>): PackedText {
  const facts: Facts = {
    traces: traces.map(({ traceId, tally, spanIds, callsAbove }) => {
      return { traceId, tally: storedTally(tally), spanIds, callsAbove };
    }),
    names: calls.map(({ models, provider }) => ({ models, provider })),
  };
  return {
    facts: JSON.stringify(facts),
    rows: traces.map(({ rows }) => rows),
    calls: calls.map(({ text }) => text),
  };
}

/** What `packedText` made text of. */
export function packedOfText({ facts, rows, calls }: PackedText): Omit<PackedExport, 'body'> {
  const { traces, names } = JSON.parse(facts) as Facts;
  return {
    traces: traces.map(({ traceId, tally, spanIds, callsAbove }, at) => {
      return { traceId, tally: tallyOfStored(tally), spanIds, rows: rows[at] ?? lost(), callsAbove };
    }),
    calls: names.map(({ models, provider }, at) => ({ models, provider, text: calls[at] ?? lost() })),
  };
}

const amountOf = (text: string | null): Usd | null => (text === null ? null : (BigInt(text) as Usd));

const storedTally = ({ startNs, endNs, spend, estimate, ...tally }: TraceTally): StoredTally => ({
  ...tally,
  startNs: startNs.toString(),
  endNs: endNs.toString(),
  spend: spend?.toString() ?? null,
  estimate: estimate?.toString() ?? null,
});

const tallyOfStored = ({ startNs, endNs, spend, estimate, ...tally }: StoredTally): TraceTally => ({
  ...tally,
  startNs: BigInt(startNs),
  endNs: BigInt(endNs),
  spend: amountOf(spend),
  estimate: amountOf(estimate),
});

function lost(): never {
  throw new Error('A text has been lost on the way from one thread to another.');
}
