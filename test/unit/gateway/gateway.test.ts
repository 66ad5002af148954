import { fixedDeployments } from '../../../src/domain/deployments/deployment-source.ts';
import { describe, expect, it } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import type { ChatDelta, Exchange, Outcome, ModelRequest } from '../../../src/domain/chat/chat.ts';
import { failedCallOf } from '../../../src/domain/chat/failed-call.ts';
import { BudgetExceeded, Forbidden, LimitExceeded, UnknownModel, UpstreamFailed } from '../../../src/domain/errors.ts';
import { type Usd, usdFrom } from '../../../src/domain/money.ts';
import { createGateway, type GatewayOptions } from '../../../src/gateway/create-gateway.ts';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import { anAdmission, someRateLimits } from '../../support/admission.ts';
import { aCaller, aModelRequest, aDeployment, aKey, NO_OUTCOME } from '../../support/chat.ts';
import { PLAIN_ROUTING } from '../../support/routing.ts';

/** Reader that ignores the answer: `consume` then settles the call as completed. */
const IGNORE_ANSWER = async (): Promise<void> => {};

const usd = (amount: string): Usd => usdFrom(amount) ?? (0n as Usd);
const USAGE = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const OUTCOME: Outcome = {
  ...NO_OUTCOME,
  responseId: 'chatcmpl-1',
  responseModel: 'up-1-2026',
  finishReason: 'stop',
  usage: USAGE,
};
/** A call with `USAGE` costs 10 x 0.1 + 2 x 0.5 = 2 USD. */
const PRICED = aDeployment({ priceOverrides: { input_cost_per_token: 0.1, output_cost_per_token: 0.5 } });
const NEVER_ABORTED = new AbortController().signal;

async function* stepsOf(...steps: readonly (ChatDelta | Error)[]): AsyncGenerator<ChatDelta> {
  for (const step of steps) {
    if (step instanceof Error) throw step;
    yield step;
  }
}

const anExchange = (overrides: Partial<Exchange> = {}): Exchange => ({
  status: 200,
  headers: {},
  streaming: true,
  bytes: streamOfBytes(new Uint8Array(0)),
  deltas: () => stepsOf({ kind: 'text', text: 'Hi' }),
  outcome: () => OUTCOME,
  ...overrides,
});

/** A gateway over an upstream that the test controls, with a monotonic clock that advances 5 ms at each read. */
function aGateway(
  send: (request: ModelRequest) => Promise<Exchange>,
  overrides: Partial<Omit<GatewayOptions, 'recorder'>> = {},
) {
  const records: CallRecord[] = [];
  let clockMs = 0;
  let ids = 0;
  const gateway = createGateway({
    deployments: fixedDeployments([PRICED]),
    providers: [{ name: 'openai', send: (_deployment, request) => send(request) }],
    catalog: {
      current: () => ({ id: '', takenAt: new Date(0), source: 'embedded', entries: [], find: () => null }),
    },
    recorder: { record: (call) => void records.push(call) },
    forwarder: { forward: async () => Promise.reject(new Error('Nothing is forwarded here.')) },
    admission: anAdmission(),
    rateLimits: someRateLimits(),
    clock: {
      now: () => new Date('2026-01-01T00:00:00Z'),
      monotonicMs() {
        clockMs += 5;
        return clockMs;
      },
    },
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
    reportsTries: true,
    checksFallbackBudgets: true,
    random: () => 0,
    routing: () => PLAIN_ROUTING,
    ...overrides,
  });
  return { gateway, records };
}

describe('records of a call', () => {
  it('are a spend row and a span with the same values', async () => {
    const { gateway, records } = aGateway(async () => anExchange());
    const caller = aCaller(aKey({ teamId: 't', userId: 'u' }));
    const parent = { traceId: '3'.repeat(32), spanId: '4'.repeat(16) };
    const call = await gateway.call(caller, aModelRequest(undefined, { callId: 'mine', parent }), NEVER_ABORTED);
    expect([call.callId, call.modelGroup, call.cost()]).toEqual(['mine', 'm', null]);
    await call.consume(IGNORE_ANSWER);
    expect(call.cost()).toBe(usd('2'));
    expect(records).toEqual([
      {
        spend: {
          id: 'uuid-1',
          callId: 'mine',
          responseId: 'chatcmpl-1',
          callType: 'acompletion',
          keyHash: caller.keyHash,
          teamId: 't',
          endUser: null,
          sessionId: null,
          tags: [],
          userId: 'u',
          modelGroup: 'm',
          model: 'up-1',
          deploymentId: 'deployment-1',
          provider: 'openai',
          usage: USAGE,
          cost: usd('2'),
          status: 'success',
          startedAt: new Date('2026-01-01T00:00:00Z'),
          endedAt: new Date('2026-01-01T00:00:00.010Z'),
          firstByteAt: new Date('2026-01-01T00:00:00.005Z'),
          traceId: parent.traceId,
          spanId: '2'.repeat(16),
          error: null,
        },
        span: {
          traceId: parent.traceId,
          spanId: '2'.repeat(16),
          parentSpanId: parent.spanId,
          name: 'chat m',
          kind: 'CLIENT',
          type: 'llm',
          agent: '',
          service: 'lensgate',
          startNs: 1_767_225_600_000_000_000n,
          endNs: 1_767_225_600_010_000_000n,
          status: 'ok',
          error: null,
          model: 'up-1-2026',
          inputTokens: 10,
          outputTokens: 2,
          inputPreview: '',
          requestId: 'chatcmpl-1',
          provider: 'openai',
          framework: '',
          callId: null,
          gateway: true,
          estimate: null,
          source: null,
          cost: usd('2'),
          input: '',
          output: '',
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': 'openai',
            'gen_ai.request.model': 'm',
            'gen_ai.response.model': 'up-1-2026',
            'gen_ai.response.id': 'chatcmpl-1',
            'gen_ai.response.finish_reasons': '["stop"]',
            'gen_ai.usage.input_tokens': '10',
            'gen_ai.usage.output_tokens': '2',
            'litellm.call_id': 'mine',
          },
          resourceAttributes: { 'service.name': 'lensgate' },
          events: [],
          links: [],
        },
      },
    ]);
  });

  it('have prompt and answer when the gateway captures prompts', async () => {
    const requests: ModelRequest[] = [];
    const { gateway, records } = aGateway(
      async (request) => {
        requests.push(request);
        return anExchange({ outcome: () => ({ ...OUTCOME, text: 'Hi' }) });
      },
      { capturePrompts: true },
    );
    await (await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED)).consume(IGNORE_ANSWER);
    expect(requests[0]?.textLimit).toBe(65_536);
    expect(records[0]?.span).toMatchObject({
      inputPreview: 'Hello',
      input: '[{"role":"user","content":"Hello"}]',
      output: 'Hi',
    });
  });

  it('are written once when the answer is cancelled, read and cancelled again', async () => {
    const { gateway, records } = aGateway(async () => anExchange());
    const call = await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED);
    call.bytes().cancel();
    await call.consume(IGNORE_ANSWER);
    call.bytes().cancel(new Error('late'));
    for await (const step of call.deltas()) expect(step).toBeDefined();
    expect(records.map(({ spend }) => [spend.status, spend.error])).toEqual([
      ['failure', { code: 'CLIENT_GONE', message: 'The caller left before the answer was complete.' }],
    ]);
  });

  it('have a cost that is known before the bytes of an unstreamed answer are read', async () => {
    const { gateway } = aGateway(async () => anExchange({ streaming: false }));
    expect((await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED)).cost()).toBe(usd('2'));
  });

  it('have a usage estimated from the prompt where the upstream reports none', async () => {
    const { gateway, records } = aGateway(async () => anExchange({ outcome: () => ({ ...OUTCOME, usage: null }) }));
    await (await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED)).consume(IGNORE_ANSWER);
    // `Hello` has 5 bytes, and 3.5 bytes are a token.
    const usage = { inputTokens: 2, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    expect(records[0]?.spend).toMatchObject({ usage, cost: usd('0.2'), status: 'success' });
  });
});

describe('a call that fails', () => {
  const failure = new UpstreamFailed('litellm.RateLimitError: no', { provider: 'openai', upstreamStatus: 429 });

  it('without an answer is recorded, and its error has the call id', async () => {
    const { gateway, records } = aGateway(() => Promise.reject(failure));
    const thrown = await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED).catch((error: unknown) => error);
    expect(thrown).toBe(failure);
    expect(failedCallOf(thrown)?.callId).toBe(records[0]?.spend.callId);
    expect(records[0]?.spend).toMatchObject({
      status: 'failure',
      cost: null,
      firstByteAt: null,
      error: { code: 'UPSTREAM_FAILED', message: 'litellm.RateLimitError: no' },
    });
    expect(records[0]?.span.attributes['error.type']).toBe('UPSTREAM_FAILED');
    expect(records[0]?.span).toMatchObject({ status: 'error', error: 'litellm.RateLimitError: no' });
  });

  it('during its stream ends the typed steps with the failure', async () => {
    const { gateway, records } = aGateway(async () =>
      anExchange({ deltas: () => stepsOf({ kind: 'text', text: 'Hi' }, failure) }),
    );
    const steps: ChatDelta[] = [];
    for await (const step of (await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED)).deltas()) steps.push(step);
    expect(steps).toEqual([
      { kind: 'text', text: 'Hi' },
      { kind: 'failure', code: 'UPSTREAM_FAILED', message: 'litellm.RateLimitError: no' },
    ]);
    expect(records.map(({ spend }) => spend.status)).toEqual(['failure']);
  });

  it('with an internal error has no detail in its spend row', async () => {
    const { gateway, records } = aGateway(() => Promise.reject(new TypeError('secret detail')));
    await gateway.call(aCaller(), aModelRequest(), NEVER_ABORTED).catch(() => {});
    expect(records[0]?.spend.error).toEqual({ code: 'INTERNAL', message: 'Internal error.' });
  });

  it('because its caller disconnected is recorded as CLIENT_GONE', async () => {
    const leaving = new AbortController();
    const { gateway, records } = aGateway(async () => {
      leaving.abort(new Error('gone'));
      throw leaving.signal.reason;
    });
    await gateway.call(aCaller(), aModelRequest(), leaving.signal).catch(() => {});
    expect(records[0]?.spend.error?.code).toBe('CLIENT_GONE');
  });
});

describe('a call that is not admitted', () => {
  const failIfCalled = (): Promise<Exchange> => Promise.reject(new Error('the upstream was called'));
  const chat = (caller: Caller, model: string, overrides: Partial<Omit<GatewayOptions, 'recorder'>> = {}) =>
    aGateway(failIfCalled, overrides).gateway.call(caller, aModelRequest({ model, messages: [] }), NEVER_ABORTED);

  it('is rejected with UnknownModel for an unconfigured model', async () => {
    await expect(chat(aCaller(), 'nothing')).rejects.toEqual(
      new UnknownModel(
        'nothing',
        '/chat/completions: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.',
      ),
    );
  });

  it('is rejected with Forbidden for a model that the key may not call, whether the model exists or not', async () => {
    for (const model of ['m', 'nothing'])
      await expect(chat(aCaller(aKey({ models: ['other'] })), model)).rejects.toBeInstanceOf(Forbidden);
  });

  it('is rejected when earlier and current spend have used up the budget of the key', async () => {
    const caller = aCaller(aKey({ maxBudget: usd('5'), alias: 'thrifty' }));
    let reads = 0;
    const admission = anAdmission(async () => {
      reads += 1;
      return usd('1.5');
    });
    const { gateway, records } = aGateway(async () => anExchange(), { admission });
    const call = async () => await (await gateway.call(caller, aModelRequest(), NEVER_ABORTED)).consume(IGNORE_ANSWER);
    await call();
    await call();
    // The stored spend and two calls: 1.5 + 2 x 2.
    await expect(call()).rejects.toEqual(
      new BudgetExceeded(
        'Budget has been exceeded! Key=thrifty (sk-...1234) Current cost: 5.5, Max budget: 5.0',
        'unprocessable',
      ),
    );
    expect(reads).toBe(1);
    expect(records.map(({ spend }) => spend.error?.code)).toEqual([undefined, undefined, 'LIMIT_EXCEEDED']);
  });

  it('is rejected with LimitExceeded for a key with a budget of zero', async () => {
    await expect(chat(aCaller(aKey({ maxBudget: usd('0') })), 'm')).rejects.toBeInstanceOf(LimitExceeded);
  });

  it('because the spend could not be read is admitted when a later read succeeds', async () => {
    let reads = 0;
    const admission = anAdmission(async () => {
      reads += 1;
      if (reads === 1) throw new Error('the store is unavailable');
      return usd('0');
    });
    const { gateway } = aGateway(async () => anExchange(), { admission });
    const caller = aCaller(aKey({ maxBudget: usd('5') }));
    await expect(gateway.call(caller, aModelRequest(), NEVER_ABORTED)).rejects.toThrow('the store is unavailable');
    await expect(gateway.call(caller, aModelRequest(), NEVER_ABORTED)).resolves.toBeDefined();
  });
});
