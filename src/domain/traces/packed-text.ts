import type { Usd } from '../money.ts';
import type { PackedExport, PackedTrace } from './packed.ts';
import type { PackedCalls } from './packed-calls.ts';
import { concatBytes } from '../bytes.ts';
import { bytesOfRows, type SpanRows } from './span-rows.ts';
import type { TraceTally } from './trace.ts';

/**
 * An encoded export as a message between threads. Structured cloning is fast for one text and slow for many objects.
 * Therefore small members are sent as JSON. Rows are bytes, which are transferred, not cloned.
 */
export interface PackedText {
  /** `Facts` as JSON. */
  readonly facts: string;
  /** The rows of all traces, concatenated in their order. */
  readonly rows: Uint8Array;
  /** `text` of each `PackedCalls`, in the order of `names` in `facts`. */
  readonly calls: readonly string[];
}

/** The type `Of` with text instead of a bigint in `Member`. */
type Texts<Of, Member extends PropertyKey> = (Omit<NonNullable<Of>, Member> & Readonly<Record<Member, string>>) | null;

/** A tally with text in place of each bigint, because JSON has no bigint. */
interface StoredTally extends Omit<TraceTally, 'startNs' | 'endNs' | 'spend' | 'estimate' | 'root' | 'preview'> {
  readonly startNs: string;
  readonly endNs: string;
  readonly spend: string | null;
  readonly estimate: string | null;
  readonly root: Texts<TraceTally['root'], 'rootNs'>;
  readonly preview: Texts<TraceTally['preview'], 'previewNs'>;
}

interface Facts {
  readonly traces: readonly (Omit<PackedTrace, 'tally' | 'rows'> & {
    readonly tally: StoredTally;
    /** Length of its rows, in bytes. */
    readonly bytes: number;
  })[];
  readonly names: readonly Omit<PackedCalls, 'text'>[];
}

/** An export without its body, as text. */
export function packedText({ traces, calls }: Omit<PackedExport, 'body'>): PackedText {
  const rows = traces.map((trace) => bytesOfRows(trace.rows));
  const facts: Facts = {
    traces: traces.map(({ traceId, tally, spanIds, callAncestors }, at) => {
      return { traceId, tally: storedTally(tally), spanIds, callAncestors, bytes: rows[at]?.length ?? 0 };
    }),
    names: calls.map(({ models, provider }) => ({ models, provider })),
  };
  return {
    facts: JSON.stringify(facts),
    rows: concatBytes(rows),
    calls: calls.map(({ text }) => text),
  };
}

/** Inverse of `packedText`. */
export function packedOfText({ facts, rows, calls }: PackedText): Omit<PackedExport, 'body'> {
  const { traces, names } = JSON.parse(facts) as Facts;
  let start = 0;
  return {
    traces: traces.map(({ traceId, tally, spanIds, callAncestors, bytes }) => {
      const traceRows = rows.subarray(start, start + bytes) as SpanRows;
      start += bytes;
      return { traceId, tally: tallyOfStored(tally), spanIds, rows: traceRows, callAncestors };
    }),
    calls: names.map(({ models, provider }, at) => ({ models, provider, text: calls[at] ?? missingCallText() })),
  };
}

const amountOf = (text: string | null): Usd | null => (text === null ? null : (BigInt(text) as Usd));

const storedTally = ({ startNs, endNs, spend, estimate, root, preview, ...tally }: TraceTally): StoredTally => ({
  ...tally,
  startNs: startNs.toString(),
  endNs: endNs.toString(),
  spend: spend?.toString() ?? null,
  estimate: estimate?.toString() ?? null,
  root: root && { ...root, rootNs: root.rootNs.toString() },
  preview: preview && { ...preview, previewNs: preview.previewNs.toString() },
});

const tallyOfStored = ({ startNs, endNs, spend, estimate, root, preview, ...tally }: StoredTally): TraceTally => ({
  ...tally,
  startNs: BigInt(startNs),
  endNs: BigInt(endNs),
  spend: amountOf(spend),
  estimate: amountOf(estimate),
  root: root && { ...root, rootNs: BigInt(root.rootNs) },
  preview: preview && { ...preview, previewNs: BigInt(preview.previewNs) },
});

function missingCallText(): never {
  throw new Error('A message of the export thread has fewer call texts than names.');
}
