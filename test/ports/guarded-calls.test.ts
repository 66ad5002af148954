import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Stores } from '../../src/persistence/stores.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, aSpendRow, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const ODD = 'a "quoted" \\ text, \u{1F600}, \u0001 and\nlines';
const USAGE = { inputTokens: 3, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
/** A guardrail run in a spend row. */
const RUN = {
  guardrail_name: ODD,
  guardrail_id: 'g',
  guardrail_provider: 'hide-secrets',
  guardrail_mode: 'pre_call',
  guardrail_status: 'guardrail_intervened',
  guardrail_response: 'mask',
  masked_entity_count: { jwt: 2 },
  start_time: 1.5,
  end_time: 2,
  duration: 0.5,
} as const;

const bodies = aTracePacker();

function aCall(number: number, fields: Partial<Parameters<typeof aSpendRow>[0]> = {}) {
  const ids = { traceId: traceId(number), spanId: spanId(number) };
  const basics = { id: `call-${number}`, callId: `call-${number}`, cost: picos(7n), usage: USAGE };
  const spend = aSpendRow({ ...basics, endedAt: new Date(START_MS + 5), ...TEAM_KEY, ...ids, ...fields });
  const span = aSpan({
    ...ids,
    gateway: true,
    cost: spend.cost,
    requestId: spend.responseId,
    inputTokens: 3,
    outputTokens: 5,
  });
  return { spend, span };
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`calls with guardrails on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open({ bodies });
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('store their guardrail runs in the spend row, and as spans below the call', async () => {
      const child = { traceId: traceId(1), spanId: spanId(7), parentSpanId: spanId(1) };
      const guardrailSpan = aSpan({ ...child, type: 'guardrail', name: 'guardrail g', model: null });
      const call = { ...aCall(1, { guardrails: [RUN] }), childSpans: [guardrailSpan] };
      const plain = aCall(2);
      const published = await stores.calls.append([call, plain].map((record) => stores.calls.encode(record)));
      const changed = (await published()).find((summary) => summary.traceId === traceId(1));
      expect(changed).toMatchObject({ spanCount: 2, spend: 7n });
      expect(await stores.spend.findBySpans([`${traceId(1)}:${spanId(1)}`])).toEqual([call.spend]);
      expect(await stores.spend.findBySpans([`${traceId(2)}:${spanId(2)}`])).toEqual([plain.spend]);
      const [summary] = await stores.traces.findSummaries({ kind: 'all' }, traceId(1), null);
      expect(summary === undefined ? null : await stores.traces.findSpan([summary], guardrailSpan.spanId)).toEqual(
        guardrailSpan,
      );
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(14n);
    });
  });
