import type { CallNames, CallTokens, CallUsage } from './call-usage.ts';
import type { SpanHead } from './span.ts';

/**
 * Model calls of an export with the same model and provider names, to be priced on the main thread. The calls are one
 * text, which is cheap to send from a thread. It is parsed only when the catalog has a price for the names.
 */
export interface PackedCalls extends CallNames {
  /** Made by `packedCalls`, read by `callsIn`. */
  readonly text: string;
}

/** A model call before it is priced. */
export interface PackedCall extends CallTokens, Pick<SpanHead, 'requestId' | 'callId' | 'startNs' | 'endNs'> {
  /** Index of its trace in the export, and of its row in the trace. */
  readonly trace: number;
  readonly place: number;
  /** Byte offset in the rows of the trace where its estimate ends. */
  readonly estimateEnd: number;
}

type Row = readonly [
  trace: number,
  place: number,
  estimateEnd: number,
  requestId: string | null,
  callId: string | null,
  /** 64-bit numbers are text: JSON numbers are doubles. */
  startNs: string,
  endNs: string,
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number | null,
  cacheWriteTokens: number | null,
  longCacheWriteTokens: number | null,
  reasoningTokens: number | null,
];

/** A call and its place in the export. */
export interface PlacedCall extends Pick<PackedCall, 'trace' | 'place' | 'estimateEnd'> {
  readonly head: SpanHead;
  readonly usage: CallUsage;
}

/** Node of a tree by provider and model names. A map by joined names would build a key for every call. */
interface Branch {
  readonly children: Map<string, Branch>;
  group: (CallNames & { readonly rows: Row[] }) | null;
}

const newBranch = (): Branch => ({ children: new Map(), group: null });

/** Groups calls by their names. */
export function packedCalls(calls: readonly PlacedCall[]): readonly PackedCalls[] {
  const groups: (CallNames & { readonly rows: Row[] })[] = [];
  const root = newBranch();
  for (const call of calls) {
    const { models, provider } = call.usage;
    let branch = branchOf(root, provider ?? '');
    for (const model of models) branch = branchOf(branch, model);
    if (branch.group === null) {
      branch.group = { models, provider, rows: [] };
      groups.push(branch.group);
    }
    branch.group.rows.push(rowOf(call));
  }
  return groups.map(({ models, provider, rows }) => ({ models, provider, text: JSON.stringify(rows) }));
}

function branchOf({ children }: Branch, name: string): Branch {
  const known = children.get(name);
  if (known !== undefined) return known;
  const fresh = newBranch();
  children.set(name, fresh);
  return fresh;
}

function rowOf({ trace, place, estimateEnd, head, usage }: PlacedCall): Row {
  const { requestId, callId, startNs, endNs } = head;
  return [
    trace,
    place,
    estimateEnd,
    requestId,
    callId,
    startNs.toString(),
    endNs.toString(),
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.longCacheWriteTokens,
    usage.reasoningTokens,
  ];
}

/** Inverse of `packedCalls`. */
export const callsIn = ({ text }: PackedCalls): readonly PackedCall[] =>
  (JSON.parse(text) as readonly Row[]).map(
    ([trace, place, estimateEnd, requestId, callId, startNs, endNs, inputTokens, outputTokens, ...parts]) => {
      const [cacheReadTokens, cacheWriteTokens, longCacheWriteTokens, reasoningTokens] = parts;
      return {
        trace,
        place,
        estimateEnd,
        requestId,
        callId,
        startNs: BigInt(startNs),
        endNs: BigInt(endNs),
        inputTokens,
        outputTokens,
        cacheReadTokens,
        cacheWriteTokens,
        longCacheWriteTokens,
        reasoningTokens,
      };
    },
  );
