import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';
import {
  CAPABILITY,
  capabilityAnswer,
  FOUR_TIERS,
  FUSE,
  fuseAnswer,
  routerModel,
  startTierUpstream,
  tierModel,
  type TierUpstream,
} from '../../support/tier-upstream.ts';

let upstream: TierUpstream;
let app: TestApp;
let key: string;

beforeAll(async () => {
  upstream = await startTierUpstream();
  const judge = { model: 'judge-1', timeout_ms: 400, circuit_breaker_cooldown_seconds: 0.2 };
  app = await startApp({
    config: {
      model_list: [
        ...Object.values(FOUR_TIERS).map((name) => tierModel(name, upstream.url)),
        tierModel('judge-1', upstream.url, 0.01),
        tierModel('spare', upstream.url),
        routerModel('smart', {
          tiers: FOUR_TIERS,
          keyword_tier_rules: [
            { keywords: ['kubernetes'], tier: 'COMPLEX' },
            { keywords: ['theorem'], tier: 'REASONING' },
          ],
          escalation_keywords: ['try harder'],
        }),
        routerModel('sticky', { tiers: FOUR_TIERS, session_affinity: true }),
        routerModel('turns', { tiers: FOUR_TIERS, classification_mode: 'user_turn' }),
        routerModel('judged', {
          tiers: FOUR_TIERS,
          tier_labels: { SIMPLE: 'Cheap' },
          classifier_type: 'llm',
          classifier_llm_config: judge,
        }),
        routerModel(
          'judged-default',
          {
            tiers: { SIMPLE: 'tier-s' },
            classifier_type: 'llm',
            classifier_llm_config: judge,
            classifier_fallback: 'default_model',
          },
          'spare',
        ),
        routerModel('first', {
          tiers: FOUR_TIERS,
          classifier_type: 'heuristic_first',
          heuristic_first_max_tier: 'SIMPLE',
          classifier_llm_config: judge,
        }),
        routerModel('hybrid', {
          tiers: FOUR_TIERS,
          classifier_type: 'hybrid',
          hybrid_boundary_margin: 0.03,
          classifier_llm_config: judge,
        }),
        routerModel('capable', CAPABILITY),
        routerModel('fuse', FUSE),
        routerModel('effort', {
          tiers: { SIMPLE: { model_name: 'tier-s', litellm_params: { reasoning_effort: 'low' } } },
        }),
        routerModel('lost', { tiers: { SIMPLE: 'nowhere' } }),
        routerModel('nested', { tiers: { SIMPLE: 'smart' } }),
      ],
      router_settings: { num_retries: 0, disable_cooldowns: true, fallbacks: [{ effort: ['spare'] }] },
    },
  });
  const made = await app.call('POST', '/key/generate', {
    models: ['smart', 'sticky', 'turns', 'judged', 'judged-default', 'first', 'hybrid', 'capable', 'fuse', 'effort'],
  });
  ({ key } = (await made.json()) as { key: string });
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});

beforeEach(() => {
  upstream.seen.length = 0;
  upstream.failing.clear();
});

const chat = (model: string, text: string, more: object = {}, headers: Record<string, string> = {}) =>
  app.call(
    'POST',
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: text }], ...more },
    {
      authorization: `Bearer ${key}`,
      ...headers,
    },
  );

const answerOf = async (response: Response): Promise<string> => {
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: unknown };
  return body.choices?.[0]?.message.content ?? JSON.stringify(body);
};
const routed = async (model: string, text: string, more: object = {}): Promise<string> =>
  answerOf(await chat(model, text, more));

interface Row {
  readonly model_group: string;
  readonly spend: number;
  readonly api_key: string;
  readonly metadata: { readonly routing_decision: Record<string, unknown> | null; readonly trace_id: string };
}

async function rowsOf(callId: string | null): Promise<readonly Row[]> {
  const find = async (): Promise<readonly Row[]> => {
    const response = await app.call('GET', `/spend/logs?summarize=false`);
    const rows = (await response.json()) as (Row & { readonly litellm_call_id: string })[];
    const trace = rows.find((row) => row.litellm_call_id === callId)?.metadata.trace_id;
    return trace === undefined ? [] : rows.filter((row) => row.metadata.trace_id === trace);
  };
  await vi.waitFor(async () => expect(await find()).not.toEqual([]), POLLING);
  return find();
}

describe('the heuristic', () => {
  it('sends calls to the model of their tier', async () => {
    expect(await routed('smart', 'What is 2+2?')).toBe('from tier-s');
    expect(await routed('smart', 'Explain how an API endpoint works.')).toBe('from tier-m');
    expect(await routed('smart', 'Think step by step and analyze the consequences.')).toBe('from tier-r');
  });

  it('names the tier in headers and in the spend row, and records the decision as a span', async () => {
    const response = await chat('smart', 'What is 2+2?');
    expect({
      group: response.headers.get('x-litellm-model-group'),
      router: response.headers.get('x-gateway-router'),
      tier: response.headers.get('x-gateway-router-tier'),
    }).toEqual({ group: 'tier-s', router: 'smart', tier: 'SIMPLE' });
    const [row, ...others] = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ model_group: 'tier-s', spend: 0.015 });
    expect(row?.metadata.routing_decision).toEqual({
      router: 'smart',
      router_id: expect.any(String),
      classifier_type: 'heuristic',
      tier: 'SIMPLE',
      model: 'tier-s',
      cause: 'heuristic',
      signals: ['tokenCount', 'simpleIndicators'],
      score: -0.15,
      duration_ms: expect.any(Number),
    });
    const trace = await app.call('GET', `/v1/traces/${row?.metadata.trace_id}`);
    expect(await trace.text()).toContain('"route smart"');
  });

  it('reads the last text of the person, not results of tools and reminders', async () => {
    const body = {
      model: 'smart',
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'What is 2+2? <system-reminder>theorem</system-reminder>' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'calc', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'theorem kubernetes' }] },
      ],
    };
    await app.call('POST', '/v1/messages', body, { authorization: `Bearer ${key}` });
    expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
  });
});

describe('rules of a router', () => {
  it('send calls with keywords to the highest matching tier', async () => {
    expect(await routed('smart', 'hi, kubernetes')).toBe('from tier-c');
    expect(await routed('smart', 'hi, kubernetes and a theorem')).toBe('from tier-r');
    expect(await routed('smart', 'hi, kubernetesish')).toBe('from tier-s');
  });

  it('raise the tier by one for an escalation keyword', async () => {
    expect(await routed('smart', 'hello, try harder')).toBe('from tier-m');
  });

  it('keep the model of a session with session_affinity', async () => {
    const hard = 'Think step by step and analyze the consequences.';
    expect(await routed('sticky', hard, { metadata: { session_id: 's1' } })).toBe('from tier-r');
    const second = await chat('sticky', 'hi', { metadata: { session_id: 's1' } });
    expect(await answerOf(second)).toBe('from tier-r');
    expect(await routed('sticky', 'hi', { metadata: { session_id: 's2' } })).toBe('from tier-s');
    const [row] = await rowsOf(second.headers.get('x-litellm-call-id'));
    expect(row?.metadata.routing_decision).toMatchObject({ cause: 'session_affinity', tier: 'REASONING' });
  });

  it('keep the decision of a turn while it continues, with classification_mode user_turn', async () => {
    const hard = { role: 'user', content: 'Think step by step and analyze the consequences.' };
    const tool = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'hi' },
    ];
    const session = { metadata: { session_id: 't1' } };
    expect(await routed('turns', '', { messages: [hard], ...session })).toBe('from tier-r');
    const easy = { role: 'user', content: 'hi' };
    expect(await routed('turns', '', { messages: [easy, ...tool], ...session })).toBe('from tier-r');
    expect(await routed('turns', '', { messages: [easy], ...session })).toBe('from tier-s');
  });

  it('merge the parameters of a tier into the request', async () => {
    expect(await routed('effort', 'hi')).toBe('from tier-s');
    expect(upstream.seen[0]?.body).toMatchObject({ model: 'tier-s', reasoning_effort: 'low' });
  });

  it('use the fallbacks of the router where the model of the tier has none', async () => {
    upstream.failing.set('tier-s', 500);
    expect(await routed('effort', 'hi')).toBe('from spare');
  });
});

describe('a judge', () => {
  it('selects the tier; its call is a priced call of the same key in the same trace', async () => {
    upstream.judge = 'The tier is {"tier": "COMPLEX"}.';
    const response = await chat('judged', 'hi');
    expect(await answerOf(response)).toBe('from tier-c');
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(rows.map((row) => [row.model_group, row.spend]).toSorted()).toEqual([
      ['judge-1', 0.15],
      ['tier-c', 0.015],
    ]);
    expect(new Set(rows.map((row) => row.api_key)).size).toBe(1);
    expect(rows.find((row) => row.model_group === 'tier-c')?.metadata.routing_decision).toMatchObject({
      cause: 'llm_classifier',
      signals: ['llm:COMPLEX'],
    });
    expect(upstream.seen[0]?.body).toMatchObject({
      model: 'judge-1',
      max_tokens: 256,
      response_format: { type: 'json_schema' },
    });
  });

  it('sees the labels of tiers; the decision has the tier and its label', async () => {
    upstream.judge = '{"tier": "Cheap"}';
    const response = await chat('judged', 'Think step by step, analyze');
    expect(await answerOf(response)).toBe('from tier-s');
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(rows.find((row) => row.model_group === 'tier-s')?.metadata.routing_decision).toMatchObject({
      tier: 'SIMPLE',
      tier_label: 'Cheap',
    });
  });

  it.each([
    ['an unknown tier', '{"tier": "HUGE"}'],
    ['another member', '{"tier": "COMPLEX", "more": 1}'],
    ['no object', 'COMPLEX'],
    ['an error', { status: 500 }],
  ])('is replaced by the heuristic after %s, without a retry', async (_case, judge) => {
    upstream.judge = judge;
    const response = await chat('judged', 'hi');
    expect(await answerOf(response)).toBe('from tier-s');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['judge-1', 'tier-s']);
  });

  it('is replaced by the default model, where it is configured', async () => {
    upstream.judge = { status: 500 };
    expect(await routed('judged-default', 'hi')).toBe('from spare');
  });

  it('is not asked by heuristic_first for calls that score low with evidence', async () => {
    upstream.judge = '{"tier": "REASONING"}';
    expect(await routed('first', 'hi')).toBe('from tier-s');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
    expect(await routed('first', 'Explain how an API endpoint works.')).toBe('from tier-r');
  });

  it('is asked by hybrid near a border only', async () => {
    upstream.judge = '{"tier": "REASONING"}';
    expect(await routed('hybrid', 'hi')).toBe('from tier-s');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
    // 0.3 for code, 0.05 from the next border with the short text: 0.2 would be clear, so one word only.
    expect(await routed('hybrid', `Please look at this ${'word '.repeat(12)} function now and tell me.`)).toBe(
      'from tier-r',
    );
  });
});

describe('a capability router', () => {
  it.each([
    ['at the threshold of a supported task', capabilityAnswer(0.6), 'tier-s'],
    ['below the threshold of a supported task', capabilityAnswer(0.59), 'tier-r'],
    ['at the threshold of an uncertain task', capabilityAnswer(0.7, 'uncertain', 'UNC-1'), 'tier-s'],
    ['below the threshold of an unmatched task', capabilityAnswer(0.69, 'unmatched', 'none'), 'tier-r'],
    ['at the threshold of an unsupported task', capabilityAnswer(0.8, 'unsupported', 'LIM-2'), 'tier-s'],
    ['with a rule of another boundary', capabilityAnswer(0.99, 'supported', 'LIM-1'), 'tier-r'],
    ['with a probability above 1', capabilityAnswer(1.1), 'tier-r'],
  ])('selects a tier %s', async (_case, judge, model) => {
    upstream.judge = judge;
    expect(await routed('capable', 'Prove it')).toBe(`from ${model}`);
  });

  it('records boundary, rule and probability', async () => {
    upstream.judge = capabilityAnswer(0.9);
    const response = await chat('capable', 'hi');
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    expect(rows.find((row) => row.model_group === 'tier-s')?.metadata.routing_decision).toMatchObject({
      cause: 'capability_classifier',
      signals: ['capability-boundary:supported', 'capability-rule:SUP-1'],
      probability: 0.9,
    });
  });

  it('uses the capable tier after a timeout, does not ask during the cooldown, then probes once', async () => {
    upstream.judge = 'silence';
    expect(await routed('capable', 'hi')).toBe('from tier-r');
    expect(await routed('capable', 'hi')).toBe('from tier-r');
    expect(upstream.seen.map(({ model }) => model)).toEqual(['judge-1', 'tier-r', 'tier-r']);
    upstream.judge = capabilityAnswer(0.9);
    await vi.waitFor(async () => expect(await routed('capable', 'hi')).toBe('from tier-s'), POLLING);
    expect(upstream.seen.filter(({ model }) => model === 'judge-1')).toHaveLength(2);
  });
});

describe('a Fuse v2 router', () => {
  it.each([
    ['within the gap', fuseAnswer(0.8, 0.9), 'tier-s'],
    ['beyond the gap', fuseAnswer(0.79, 0.9), 'tier-r'],
    ['after an answer with another member', fuseAnswer(0.9, 0.9).replace('{', '{"x":1,'), 'tier-r'],
  ])('selects a model %s', async (_case, judge, model) => {
    upstream.judge = judge;
    expect(await routed('fuse', 'hi')).toBe(`from ${model}`);
  });

  it('sends profiles and the task, and records signals of llm-v2', async () => {
    upstream.judge = fuseAnswer(0.8, 0.9);
    const response = await chat('fuse', 'Fix the join');
    const messages = upstream.seen[0]?.body['messages'] as { role: string; content: string }[];
    expect(JSON.parse(messages[1]?.content ?? '')).toEqual({
      caller_constraints: '',
      task_and_follow_ups: ['Fix the join'],
    });
    expect(messages[0]?.content).toContain(
      '{"prompt_version":"llm-v2-1","harness":"c","efficient":{"model":"tier-s","profile":"a"}',
    );
    const rows = await rowsOf(response.headers.get('x-litellm-call-id'));
    const decision = rows.find((row) => row.model_group === 'tier-s')?.metadata.routing_decision;
    expect(decision).toMatchObject({ cause: 'llm_v2_classifier', probability: 0.8 });
    expect((decision?.['signals'] as string[]).every((signal) => signal.startsWith('llm-v2:'))).toBe(true);
  });
});

describe('refusals', () => {
  it('refuse a key without the right to the router, and grant the tiers with it', async () => {
    const refused = await chat('tier-s', 'hi');
    expect(refused.status).toBe(403);
    const lost = await chat('lost', 'hi');
    expect(lost.status).toBe(403);
  });

  it('answer 503 where no model of the router can be called', async () => {
    for (const model of ['lost', 'nested']) {
      const response = await app.call('POST', '/v1/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'hi' }],
      });
      expect({ status: response.status, body: await response.json() }).toEqual({
        status: 503,
        body: {
          error: expect.objectContaining({ message: `No model of the router '${model}' can be called.`, code: '503' }),
        },
      });
    }
  });

  it('answer 400 to calls that are no conversation', async () => {
    const response = await app.call('POST', '/v1/embeddings', { model: 'smart', input: 'hi' });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 400,
      body: {
        error: expect.objectContaining({
          message: expect.stringContaining(
            "/embeddings: The model 'smart' is a router, which answers conversations only.",
          ),
        }),
      },
    });
  });

  it('count judge and answer in the budget, and only the answer in the limits per minute', async () => {
    upstream.judge = capabilityAnswer(0.9);
    const made = await app.call('POST', '/key/generate', { models: ['capable'], rpm_limit: 2, max_budget: 0.33 });
    const limited = ((await made.json()) as { key: string }).key;
    const call = () => chat('capable', 'hi', {}, { authorization: `Bearer ${limited}` });
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(200);
    upstream.seen.length = 0;
    // Two calls cost 2 * (0.15 + 0.015), which is the budget.
    expect((await call()).status).toBe(422);
    expect(upstream.seen).toEqual([]);
  });
});
