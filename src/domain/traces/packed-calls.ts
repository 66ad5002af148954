import type { CallNames, CallTokens, CallUsage } from './call-usage.ts';
import type { SpanHead } from './span.ts';

/**
 * The model calls of an export that go by the same names, whose price is still to be found. They are text, because
 * exports are read on other threads, and because most need not be looked at: nobody may know a price for these names.
 */
export interface PackedCalls extends CallNames {
  /** Made by `packedCalls`, read by `callsIn`. */
  readonly text: string;
}

/** A model call whose price is still to be found. */
export interface PackedCall extends CallTokens, Pick<SpanHead, 'requestId' | 'callId' | 'startNs' | 'endNs'> {
  /** Which of the export's traces it is in, and which row of that is its span, from 0. */
  readonly trace: number;
  readonly place: number;
  /** Where in the rows of the trace its estimate ends. */
  readonly end: number;
}

type Row = readonly [
  trace: number,
  place: number,
  end: number,
  requestId: string | null,
  callId: string | null,
  /** 64-bit numbers are text: JSON has no words for them. */
  startNs: string,
  endNs: string,
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number | null,
  cacheWriteTokens: number | null,
  longCacheWriteTokens: number | null,
  reasoningTokens: number | null,
];

/** A call and where it is. */
export interface PlacedCall extends Pick<PackedCall, 'trace' | 'place' | 'end'> {
  readonly head: SpanHead;
  readonly usage: CallUsage;
}

/** Names as a path, one after the other: they repeat, and one text of them would be made anew for every call. */
interface Branch {
  readonly further: Map<string, Branch>;
  group: (CallNames & { readonly rows: Row[] }) | null;
}

const newBranch = (): Branch => ({ further: new Map(), group: null });

/** Calls by the names that they go by. */
export function packedCalls(calls: readonly PlacedCall[]): readonly PackedCalls[] {
  const groups: (CallNames & { readonly rows: Row[] })[] = [];
  const root = newBranch();
  for (const call of calls) {
    const { models, provider } = call.usage;
    let branch = branchOf(root, provider ?? '');
    for (const model of models) branch = branchOf(branch, model);
    if (branch.group === null) groups.push((branch.group = { models, provider, rows: [] }));
    branch.group.rows.push(rowOf(call));
  }
  return groups.map(({ models, provider, rows }) => ({ models, provider, text: JSON.stringify(rows) }));
}

function branchOf({ further }: Branch, name: string): Branch {
  const known = further.get(name);
  if (known !== undefined) return known;
  const fresh = newBranch();
  further.set(name, fresh);
  return fresh;
}

function rowOf({ trace, place, end, head, usage }: PlacedCall): Row {
  const { requestId, callId, startNs, endNs } = head;
  return [
    trace,
    place,
    end,
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

/** The calls that `packedCalls` made text of. */
export const callsIn = ({ text }: PackedCalls): readonly PackedCall[] =>
  (JSON.parse(text) as readonly Row[]).map(
    ([trace, place, end, requestId, callId, startNs, endNs, inputTokens, outputTokens, ...parts]) => {
      const [cacheReadTokens, cacheWriteTokens, longCacheWriteTokens, reasoningTokens] = parts;
      return {
        trace,
        place,
        end,
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
