import { fixedDeployments } from '../../../src/domain/deployments/deployment-source.ts';
import { describe, expect, it, vi } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import type { PriceRow } from '../../../src/domain/catalog/prices.ts';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../../../src/domain/chat/chat.ts';
import { BudgetExceeded, UpstreamFailed } from '../../../src/domain/errors.ts';
import { IMAGE_GENERATIONS, TRANSCRIPTIONS } from '../../../src/domain/inference/endpoint.ts';
import { type Usd, usdFrom } from '../../../src/domain/money.ts';
import { createGateway } from '../../../src/gateway/create-gateway.ts';
import type { GatewayCall } from '../../../src/gateway/gateway.ts';
import { anAdmission, someRateLimits } from '../../support/admission.ts';
import { aCaller, aDeployment, aKey, aModelRequest, NO_OUTCOME } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';
import { randomFrom } from '../../support/random.ts';
import { PLAIN_ROUTING } from '../../support/routing.ts';

/** Reader that ignores the answer: `consume` then settles the call as completed. */
const IGNORE_ANSWER = async (): Promise<void> => {};

const usd = (amount: number): Usd => usdFrom(amount) ?? (0n as Usd);
const PRICES = { input_cost_per_token: 0, output_cost_per_token: 1 };
const COUNTER = `key:${aKey().hash}`;

/** A call that has reached its upstream. */
interface SentCall {
  readonly deploymentId: string;
  answer(exchange: Exchange): void;
  fail(failure: Error): void;
}

async function* oneStep(): AsyncGenerator<ChatDelta> {
  yield { kind: 'text', text: 'Hi' };
}

function anExchange(outputTokens: number | null, streaming: boolean): Exchange {
  const usage =
    outputTokens === null
      ? null
      : { inputTokens: 1, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return {
    status: 200,
    headers: {},
    streaming,
    bytes: streamOfBytes(new Uint8Array(0)),
    deltas: oneStep,
    outcome: () => ({ ...NO_OUTCOME, usage }),
  };
}

/** A gateway with upstreams that the test controls: `m`, and its fallback `spare`. */
function aGateway({
  free = false,
  storedSpend = async () => 0n,
  row = null,
}: {
  readonly free?: boolean;
  readonly storedSpend?: () => Promise<bigint>;
  /** Row of the price map for all models; null for none. */
  readonly row?: PriceRow | null;
} = {}) {
  const entry = row === null ? null : { id: 'up-1', provider: null, mode: null, row };
  const records: CallRecord[] = [];
  const sentCalls: SentCall[] = [];
  const admission = anAdmission(storedSpend);
  let ids = 0;
  const gateway = createGateway({
    deployments: fixedDeployments([
      aDeployment({ priceOverrides: free ? { ...PRICES, output_cost_per_token: 0 } : PRICES }),
      aDeployment({ id: 'deployment-2', modelGroup: 'spare', priceOverrides: PRICES }),
    ]),
    providers: [
      {
        name: 'openai',
        send: ({ id: deploymentId }, _request, signal) =>
          new Promise((answer, fail) => {
            const leave = (): void => fail(signal.reason as Error);
            if (signal.aborted) leave();
            signal.addEventListener('abort', leave, { once: true });
            sentCalls.push({ deploymentId, answer, fail });
          }),
      },
    ],
    catalog: {
      current: () => ({ id: '', takenAt: new Date(0), source: 'embedded', entries: [], find: () => entry }),
    },
    recorder: { record: (call) => void records.push(call) },
    forwarder: { forward: async () => Promise.reject(new Error('Nothing is forwarded here.')) },
    admission,
    rateLimits: someRateLimits(),
    clock: { now: () => new Date(0), monotonicMs: () => 0 },
    ids: {
      uuid() {
        ids += 1;
        return `uuid-${ids}`;
      },
      traceId: () => '1'.repeat(32),
      spanId: () => '2'.repeat(16),
    },
    capturePrompts: false,
    pause: async () => {},
    alwaysStreamUsage: false,
    budgetErrorKind: 'unprocessable',
    clientCredentials: false,
    reportsTries: false,
    checksFallbackBudgets: true,
    random: () => 0,
    routing: () => PLAIN_ROUTING,
  });
  return { gateway, admission, records, sentCalls };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const UPSTREAM_FAILURE = new UpstreamFailed('away', { provider: 'openai', upstreamStatus: 500 });
const request = (overrides: Partial<ModelRequest> = {}): ModelRequest =>
  aModelRequest({ model: 'm', messages: [], max_tokens: 2 }, overrides);
const WITH_FALLBACK: Partial<ModelRequest> = {
  retries: {
    count: 1,
    fallbacks: [{ model: 'spare', members: { max_tokens: 3 } }],
    contextFallbacks: new Map(),
    withoutFallbacks: false,
  },
};
const NEVER_ABORTED = new AbortController().signal;

describe('the reservation of a call', () => {
  it('is resized to the output limit of the fallback', async () => {
    const { gateway, admission, sentCalls } = aGateway();
    const caller = aCaller(aKey({ maxBudget: usd(4) }));
    const call = gateway.call(caller, request(WITH_FALLBACK), NEVER_ABORTED);
    await nextTurn();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      sentCalls.at(-1)?.fail(UPSTREAM_FAILURE);
      await nextTurn();
    }
    expect(sentCalls.map(({ deploymentId }) => deploymentId)).toEqual(['deployment-1', 'deployment-1', 'deployment-2']);
    // A check with a tiny limit is refused, and its refusal has the reserved amount.
    expect(await admission.check([{ counter: COUNTER, limit: 1n, amount: 1n, refused: 'at' }])).toMatchObject({
      used: 0n,
      reserved: usd(3),
    });
    sentCalls.at(-1)?.answer(anExchange(1, false));
    await (await call).consume(IGNORE_ANSWER);
    expect([admission.counts().open, admission.usedOf(COUNTER)]).toEqual([0, usd(1)]);
  });

  it.each([
    ['its key', aKey({ maxBudget: usd(3) })],
    ['its team', aKey({ teamId: 't', owners: someOwners({ team: { maxBudget: usd(3) } }) })],
  ])('is made for a priced fallback after a free model: budget of %s', async (_of, key) => {
    const { gateway, sentCalls } = aGateway({ free: true });
    const caller = aCaller(key);
    const calls = [1, 2].map(() => gateway.call(caller, request(WITH_FALLBACK), NEVER_ABORTED));
    const ends = Promise.allSettled(calls);
    await nextTurn();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      for (const sentCall of sentCalls.splice(0)) sentCall.fail(UPSTREAM_FAILURE);
      await nextTurn();
    }
    // The budget admits one of the two fallbacks, which may cost 3 each.
    expect(sentCalls.map(({ deploymentId }) => deploymentId)).toEqual(['deployment-2']);
    sentCalls[0]?.answer(anExchange(3, false));
    expect((await ends).map((end) => end.status === 'rejected' && end.reason instanceof BudgetExceeded)).toEqual([
      false,
      true,
    ]);
  });

  it.each([
    ['image', { output_cost_per_image: 1 }, IMAGE_GENERATIONS],
    ['second', { input_cost_per_second: 1 }, TRANSCRIPTIONS],
  ])('is refused where tokens are configured as free, but the map has a price per %s', async (_unit, row, endpoint) => {
    const { gateway, sentCalls } = aGateway({ free: true, row, storedSpend: async () => usd(3) });
    const caller = aCaller(aKey({ maxBudget: usd(3) }));
    await expect(gateway.call(caller, request({ endpoint }), NEVER_ABORTED)).rejects.toThrow(BudgetExceeded);
    expect(sentCalls).toEqual([]);
    const free = gateway.call(caller, request(), NEVER_ABORTED);
    await vi.waitFor(() => expect(sentCalls.map(({ deploymentId }) => deploymentId)).toEqual(['deployment-1']));
    sentCalls[0]?.answer(anExchange(3, false));
    await free;
  });

  it('is not made by `admit`', async () => {
    const { gateway, admission } = aGateway();
    const caller = aCaller(aKey({ maxBudget: usd(2) }));
    await gateway.admit(caller, request());
    await gateway.admit(caller, request());
    expect(admission.counts()).toEqual({ open: 0, expired: 0 });
  });

  it('is released when the caller disconnects while the spend of its key is read', async () => {
    const reading = Promise.withResolvers<bigint>();
    const { gateway, admission, records } = aGateway({ storedSpend: () => reading.promise });
    const leaving = new AbortController();
    const call = gateway.call(aCaller(aKey({ maxBudget: usd(2) })), request(), leaving.signal);
    await nextTurn();
    leaving.abort(new Error('gone'));
    reading.resolve(0n);
    await expect(call).rejects.toThrow('gone');
    expect([admission.counts(), admission.usedOf(COUNTER)]).toEqual([{ open: 0, expired: 0 }, 0n]);
    expect(records.map(({ spend }) => spend.error?.code)).toEqual(['CLIENT_GONE']);
  });
});

describe('random calls', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => [seed]))(
    'leave no reservation and count each cost once (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const limit = 20;
      // With a free model, only fallbacks cost something.
      const free = seed % 4 === 0;
      const { gateway, admission, records, sentCalls } = aGateway({ free });
      const caller = aCaller(aKey({ maxBudget: usd(limit) }));
      const answered: GatewayCall[] = [];
      const waiting: Promise<void>[] = [];
      const leavers: AbortController[] = [];
      let refused = 0;
      // At most two output tokens, the limit of the request. Some answers have no usage.
      const exchange = (): Exchange => anExchange(random(5) === 0 ? null : random(3), random(2) === 0);
      const pick = <Item>(items: Item[]): Item | undefined => items.splice(random(items.length), 1)[0];

      function begin(): void {
        const leaver = new AbortController();
        leavers.push(leaver);
        const overrides = random(2) === 0 ? WITH_FALLBACK : {};
        waiting.push(
          gateway.call(caller, request(overrides), leaver.signal).then(
            (call) => void answered.push(call),
            (failure: unknown) => {
              if (failure instanceof BudgetExceeded) refused += 1;
            },
          ),
        );
      }
      async function end(call: GatewayCall): Promise<void> {
        const ending = random(4);
        if (ending === 0) await call.consume(IGNORE_ANSWER);
        if (ending === 1) call.bytes().cancel();
        if (ending === 2) call.bytes().cancel(UPSTREAM_FAILURE);
        const deltas = call.deltas();
        if (ending === 3 && random(2) === 0) await deltas.return?.();
        for await (const delta of deltas) expect(delta.kind).toBe('text');
        await call.consume(IGNORE_ANSWER);
      }
      const steps: readonly (() => void | Promise<void>)[] = [
        begin,
        begin,
        () => pick(sentCalls)?.answer(exchange()),
        () => pick(sentCalls)?.fail(UPSTREAM_FAILURE),
        () => pick(leavers)?.abort(new Error('gone')),
        async () => {
          const call = pick(answered);
          if (call !== undefined) await end(call);
        },
      ];
      for (let step = 0; step < 400; step += 1) {
        await steps[random(steps.length)]?.();
        await nextTurn();
      }
      while (sentCalls.length > 0) {
        for (const sentCall of sentCalls.splice(0)) sentCall.answer(exchange());
        await nextTurn();
      }
      await Promise.all(waiting);
      for (const call of answered) await end(call);

      expect(admission.counts()).toEqual({ open: 0, expired: 0 });
      const cost = records.reduce((sum, { spend }) => sum + (spend.cost ?? 0n), 0n);
      expect(admission.usedOf(COUNTER)).toBe(cost);
      // One call may exceed the limit, by at most its own expected cost.
      expect(cost < usd(limit + 3)).toBe(true);
      expect(free || refused > 0).toBe(true);
      expect(admission.check([{ counter: COUNTER, limit: cost + 1n, amount: 1n, refused: 'at' }])).toBe(null);
    },
  );
});
