import { describe, expect, it } from 'vitest';
import { type CallEstimator, estimatedCalls, withEstimatedCalls } from '../../../src/domain/traces/estimate-export.ts';
import type { PackedExport } from '../../../src/domain/traces/packed.ts';
import { packedCalls } from '../../../src/domain/traces/packed-calls.ts';
import { packedOfText, packedText } from '../../../src/domain/traces/packed-text.ts';
import {
  nearestCallAncestors,
  type CallLink,
  countedCalls,
  countedEstimates,
} from '../../../src/domain/traces/estimates.ts';
import { mayRepeatCalls, withCallsCountedOnce } from '../../../src/domain/traces/recount.ts';
import {
  rowsOfTraces,
  type SpanRows,
  spanRows,
  spansOfRows,
  textOfRows,
} from '../../../src/domain/traces/span-rows.ts';
import { addTally, growSummary, tallyOf, type TraceSummary } from '../../../src/domain/traces/trace.ts';
import { aSpan, headOf, picos, spanId, traceId } from '../../ports/samples.ts';
import { permutationsOf } from '../../support/permutations.ts';

const span = (number: number, fields: Parameters<typeof aSpan>[0] = {}) =>
  headOf(aSpan({ spanId: spanId(number), ...fields }));
const below = (number: number) => ({ parentSpanId: spanId(number) });
const estimated = (amount: bigint) => ({ estimate: picos(amount) });
const counted = (spans: readonly CallLink[]) =>
  [...countedEstimates(spans)].map(([id, amount]) => [Number.parseInt(id, 16), amount]);

describe('counted estimates', () => {
  it('are those of calls that no other span describes', () => {
    expect(counted([span(1, estimated(5n)), span(2, estimated(7n)), span(3)])).toEqual([
      [1, 5n],
      [2, 7n],
    ]);
    expect(counted([span(1)])).toEqual([]);
  });

  it('exclude a call with another call below it, also with steps in between', () => {
    const inner = [span(2, { ...below(1), type: 'chain' }), span(3, { ...below(2), ...estimated(7n) })];
    expect(counted([span(1, estimated(5n)), ...inner])).toEqual([[3, 7n]]);
    expect(counted([span(1, estimated(5n)), span(2, { ...below(1), gateway: true })])).toEqual([]);
    // A call without a price between two other calls does not separate them.
    expect(counted([span(1, estimated(5n)), span(2, below(1)), span(3, { ...below(2), gateway: true })])).toEqual([]);
  });

  it('include a call whose tool or agent calls a model', () => {
    for (const type of ['tool', 'agent'] as const)
      expect(
        counted([
          span(1, estimated(5n)),
          span(2, { ...below(1), type }),
          span(3, { ...below(2), gateway: true, cost: picos(9n) }),
        ]),
      ).toEqual([[1, 5n]]);
  });

  it('exclude calls with the response id of a gateway call, and all but one of the calls with the same response id', () => {
    const named = { requestId: 'r-1' };
    expect(counted([span(1, { ...named, ...estimated(5n) }), span(2, { ...named, gateway: true })])).toEqual([]);
    // Of several spans with one response id, the first by span id counts.
    expect(counted([span(2, { ...named, ...estimated(5n) }), span(1, { ...named, ...estimated(7n) })])).toEqual([
      [1, 7n],
    ]);
  });

  it('include a call that is its own parent, but no call in a longer cycle of parents', () => {
    expect(counted([span(1, { ...below(1), ...estimated(5n) })])).toEqual([[1, 5n]]);
    // In this cycle of two spans, the call is below itself.
    const cycle = [span(1, { ...below(2), ...estimated(5n) }), span(2, { ...below(1), type: 'chain' })];
    expect(counted(cycle)).toEqual([]);
    expect([...nearestCallAncestors(cycle, new Set([spanId(1)]))]).toEqual([[spanId(1), spanId(1)]]);
  });

  it('are compared by response ids of model calls only, and only by ids of at most 512 characters', () => {
    const checked = span(2, { requestId: 'r-1', gateway: true, type: 'guardrail' });
    expect(counted([span(1, { requestId: 'r-1', ...estimated(5n) }), checked])).toEqual([[1, 5n]]);
    for (const [length, expected] of [
      [512, [[1, 5n]]],
      [
        513,
        [
          [1, 5n],
          [2, 7n],
        ],
      ],
    ] as const) {
      const requestId = 'r'.repeat(length);
      const spansOfRequest = [span(1, { requestId, ...estimated(5n) }), span(2, { requestId, ...estimated(7n) })];
      expect(counted(spansOfRequest)).toEqual(expected);
    }
  });
});

describe('the calls of a trace', () => {
  const used = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
  const totals = (spans: Parameters<typeof countedCalls>[0]) => {
    const { llmCalls, gatewayCalls, inputTokens, outputTokens } = countedCalls(spans);
    return [llmCalls, gatewayCalls, inputTokens, outputTokens];
  };

  it('are counted once where gateway and caller describe the same call, with the tokens of the gateway', () => {
    const step = span(2, { ...below(1), type: 'chain', ...used(9, 9) });
    const gateway = span(3, { ...below(2), gateway: true, ...used(11, 2) });
    expect(totals([span(1, used(10, 1)), step, gateway])).toEqual([1, 1, 11, 2]);
    const named = [
      span(1, { requestId: 'r', ...used(10, 1) }),
      span(2, { requestId: 'r', gateway: true, ...used(11, 2) }),
    ];
    expect(totals(named)).toEqual([1, 1, 11, 2]);
  });

  it('are counted once where nested spans describe one call, with the tokens of the innermost', () => {
    // Logfire sends two nested spans for a call of Pydantic AI: of the agent framework, and of the SDK.
    expect(totals([span(1, used(10, 1)), span(2, { ...below(1), ...used(11, 2) })])).toEqual([1, 0, 11, 2]);
    const step = span(2, { ...below(1), type: 'chain', ...used(9, 9) });
    expect(totals([span(1, used(10, 1)), step, span(3, { ...below(2), ...used(11, 2) })])).toEqual([1, 0, 11, 2]);
    const children = [span(2, { ...below(1), ...used(3, 1) }), span(3, { ...below(1), ...used(4, 2) })];
    expect(totals([span(1, used(7, 3)), ...children])).toEqual([2, 0, 7, 3]);
  });

  it('have the tokens of the span above where the innermost has none', () => {
    expect(totals([span(1, used(10, 1)), span(2, { ...below(1), ...used(0, 0) })])).toEqual([1, 0, 10, 1]);
    expect(totals([span(1, used(0, 0)), span(2, { ...below(1), ...used(0, 0) })])).toEqual([1, 0, 0, 0]);
  });

  it('have the tokens of the gateway where the innermost has the answer of a gateway call', () => {
    const inner = span(2, { ...below(1), ...used(0, 0), requestId: 'r' });
    const gateway = span(3, { gateway: true, requestId: 'r', ...used(11, 2) });
    expect(totals([span(1, used(10, 1)), inner, gateway])).toEqual([1, 1, 11, 2]);
  });

  it('are counted separately with a tool or an agent in between', () => {
    for (const type of ['tool', 'agent'] as const) {
      const between = span(2, { ...below(1), type, ...used(9, 9) });
      expect(totals([span(1, used(10, 1)), between, span(3, { ...below(2), ...used(5, 5) })])).toEqual([2, 0, 15, 6]);
    }
    const tool = span(2, { ...below(1), type: 'tool' });
    const gateway = span(3, { ...below(2), gateway: true, ...used(5, 5) });
    expect(totals([span(1, used(10, 1)), tool, gateway])).toEqual([2, 1, 15, 6]);
  });

  it('are counted separately where the gateway made both calls', () => {
    const inner = span(2, { ...below(1), gateway: true, ...used(5, 5) });
    expect(totals([span(1, { gateway: true, ...used(10, 1) }), inner])).toEqual([2, 2, 15, 6]);
  });

  it('have the tokens of runs where a trace has no calls', () => {
    expect(totals([span(1, { type: 'agent', ...used(10, 1) })])).toEqual([0, 0, 10, 1]);
  });
});

it('the nearest call above is found through steps, but not through a tool', () => {
  const steps = [
    span(1),
    span(2, { ...below(1), type: 'chain' }),
    span(3, below(2)),
    span(4, { ...below(1), type: 'tool' }),
    span(5, below(4)),
  ];
  expect([...nearestCallAncestors(steps, new Set([1, 3, 5].map(spanId)))]).toEqual([[spanId(3), spanId(1)]]);
});

describe('a summary', () => {
  const identity = { traceId: traceId(1), traceRef: 'R', owner: { teamId: null, keyHash: 'k' } };
  const SPANS = [
    span(1, { type: 'agent', model: null }),
    span(2, { ...below(1), ...estimated(5n) }),
    span(3, { ...below(2), gateway: true, cost: picos(11n) }),
    span(4, { ...below(1), ...estimated(7n), requestId: 'r' }),
  ];

  it('is the same in any order of its spans', () => {
    for (const order of permutationsOf(SPANS)) {
      const received: typeof SPANS = [];
      const summary = order.reduce<TraceSummary | null>((before, nextSpan) => {
        received.push(nextSpan);
        const after = addTally(before, identity, tallyOf([nextSpan]));
        return before !== null && mayRepeatCalls(after) ? withCallsCountedOnce(after, received) : after;
      }, null);
      expect(summary).toMatchObject({ spend: 18n, pricedCalls: 2, estimate: 7n, estimatedCalls: 1 });
      // Spans 3 and 4 count, with 3 input tokens and 5 output tokens each, as `aSpan` sets them.
      expect(summary).toMatchObject({ llmCalls: 2, gatewayCalls: 1, inputTokens: 6, outputTokens: 10 });
    }
    expect(growSummary(null, identity, SPANS)).toMatchObject({ spend: 18n, pricedCalls: 2, estimate: 7n });
  });

  it('has no spend when all its estimates describe gateway calls without a price', () => {
    const before = growSummary(null, identity, SPANS.slice(0, 2));
    expect([before.spend, before.estimate, before.estimatedCalls]).toEqual([5n, 5n, 1]);
    const allSpans = [...SPANS.slice(0, 2), span(3, { ...below(2), gateway: true })];
    const after = withCallsCountedOnce(addTally(before, identity, tallyOf(allSpans.slice(2))), allSpans);
    expect([after.spend, after.pricedCalls, after.estimate, after.estimatedCalls]).toEqual([null, 0, null, 0]);
  });
});

describe('an export', () => {
  const heads = [span(1), span(2, below(1)), span(3), span(4), span(5, below(2))];
  const bodies = heads.map((head, at) => ({ head, payload: { kind: 'body', at } as const }));
  const [{ rows, estimateEnds } = { rows: spanRows([]), estimateEnds: [] }] = rowsOfTraces([bodies]);
  /**
   * An export with calls at these places. The input tokens of a call equal its place. `links` becomes `callAncestors`:
   * pairs of a call's place and the place of its nearest ancestor that describes the same call.
   */
  function packed(calls: readonly number[], links: readonly number[] = [], tally = tallyOf(heads)): PackedExport {
    const placed = calls.map((place) => ({
      trace: 0,
      place,
      estimateEnd: estimateEnds[place] ?? -1,
      head: { ...span(place + 1), callId: `call ${place}` },
      usage: {
        // Models alternate, so that calls of one model are not adjacent.
        models: [place % 2 === 0 ? 'even' : 'odd'],
        provider: null,
        inputTokens: place,
        outputTokens: 1,
        cacheReadTokens: null,
        cacheWriteTokens: 3,
        longCacheWriteTokens: null,
        reasoningTokens: 4,
      },
    }));
    return {
      body: { format: 'json', compression: 'zstd', bytes: new Uint8Array() },
      traces: [{ traceId: traceId(1), tally, spanIds: heads.map(({ spanId: id }) => id), rows, callAncestors: links }],
      calls: packedCalls(placed),
    };
  }
  /** The estimate is five more than the input tokens. A call with two input tokens has none. */
  const byTokens: CallEstimator = () => (tokens) =>
    tokens.inputTokens === 2 ? null : picos(BigInt(tokens.inputTokens) + 5n);
  const withAll = (original: PackedExport, by = byTokens) => withEstimatedCalls(original, estimatedCalls(original, by));

  it('has ids, usage and estimate of each call with a price, after one look-up per model', () => {
    const received: unknown[] = [];
    const calls = estimatedCalls(packed([0, 1, 2]), (names) => {
      received.push(names.models);
      return names.models.includes('odd') ? null : byTokens(names);
    });
    expect(received).toEqual([['even'], ['odd']]);
    const { startNs, endNs } = span(1);
    expect(calls).toEqual([
      {
        trace: 0,
        place: 0,
        estimateEnd: estimateEnds[0],
        requestId: null,
        callId: 'call 0',
        startNs,
        endNs,
        inputTokens: 0,
        outputTokens: 1,
        cacheReadTokens: null,
        cacheWriteTokens: 3,
        longCacheWriteTokens: null,
        reasoningTokens: 4,
        estimate: 5n,
      },
    ]);
  });

  it('has its estimates in its rows, and the counted ones in its sums', () => {
    const [trace] = withAll(packed([0, 1, 2, 3], [1, 0])).traces;
    expect(spansOfRows(traceId(1), trace?.rows ?? ('' as SpanRows))).toEqual(
      bodies.map((body, place) => ({
        ...body,
        head: { ...body.head, estimate: place === 2 || place === 4 ? null : picos(BigInt(place) + 5n) },
      })),
    );
    // The call at place 0 describes the call at place 1 again, so that its estimate is not counted.
    expect(trace?.tally).toEqual({ ...tallyOf(heads), spend: 14n, pricedCalls: 2, estimate: 14n, estimatedCalls: 2 });
    const charged = { ...tallyOf(heads), spend: picos(100n), pricedCalls: 1 };
    expect(withAll(packed([3], [], charged)).traces[0]?.tally).toMatchObject({
      spend: 108n,
      pricedCalls: 2,
      estimate: 8n,
    });
  });

  it('counts a call once also where a span without an estimate is between two that describe it', () => {
    const [trace] = withAll(packed([0, 4], [1, 0, 4, 1])).traces;
    expect(trace?.tally).toMatchObject({ spend: 9n, pricedCalls: 1, estimate: 9n, estimatedCalls: 1 });
  });

  it('does not count a call that is below itself', () => {
    const [trace] = withAll(packed([0, 3], [3, 3])).traces;
    expect(trace?.tally).toMatchObject({ spend: 5n, pricedCalls: 1, estimate: 5n, estimatedCalls: 1 });
  });

  it('is unchanged where nothing can be estimated', () => {
    expect(withAll(packed([2]))).toEqual(packed([2]));
    expect(withAll(packed([0, 1]), () => null)).toEqual(packed([0, 1]));
    expect(textOfRows(rows)).toBe(spanRows(bodies));
  });

  it('is the same after a transfer between threads', () => {
    const original = packed([0, 1, 2], [1, 0], { ...tallyOf(heads), spend: picos(100n), estimate: picos(7n) });
    const { body, ...read } = withAll(original);
    expect({ body, ...packedOfText(structuredClone(packedText(read))) }).toEqual(withAll(original));
  });
});
