import { describe, expect, it } from 'vitest';
import { capabilityAnswer } from '../../support/tier-upstream.ts';
import { answerText, app, chat, answerTextFor, rowsOf, upstream, useRouters, keyHeaders } from './router-client.ts';

useRouters();

describe('the heuristic', () => {
  it('sends calls to the model of their tier', async () => {
    expect(await answerTextFor('smart', 'What is 2+2?')).toBe('from tier-s');
    expect(await answerTextFor('smart', 'Explain how an API endpoint works.')).toBe('from tier-m');
    expect(await answerTextFor('smart', 'Think step by step and analyze the consequences.')).toBe('from tier-r');
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

  it('scores the last text of the person, without results of tools and reminders', async () => {
    const body = {
      model: 'smart',
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'What is 2+2? <system-reminder>theorem</system-reminder>' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'calc', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'theorem kubernetes' }] },
      ],
    };
    await app.call('POST', '/v1/messages', body, keyHeaders());
    expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
  });
});

describe('rules of a router', () => {
  it('send calls with keywords to the highest matching tier', async () => {
    expect(await answerTextFor('smart', 'hi, kubernetes')).toBe('from tier-c');
    expect(await answerTextFor('smart', 'hi, kubernetes and a theorem')).toBe('from tier-r');
    expect(await answerTextFor('smart', 'hi, kubernetesish')).toBe('from tier-s');
  });

  it('raise the tier by one level for an escalation keyword', async () => {
    expect(await answerTextFor('smart', 'hello, try harder')).toBe('from tier-m');
  });

  it('keep the model of a session with session_affinity', async () => {
    const hard = 'Think step by step and analyze the consequences.';
    expect(await answerTextFor('sticky', hard, { metadata: { session_id: 's1' } })).toBe('from tier-r');
    const second = await chat('sticky', 'hi', { metadata: { session_id: 's1' } });
    expect(await answerText(second)).toBe('from tier-r');
    expect(await answerTextFor('sticky', 'hi', { metadata: { session_id: 's2' } })).toBe('from tier-s');
    const [row] = await rowsOf(second.headers.get('x-litellm-call-id'));
    expect(row?.metadata.routing_decision).toMatchObject({ cause: 'session_affinity', tier: 'REASONING' });
  });

  it('keep the decision for calls that end with the result of a tool, with classification_mode user_turn', async () => {
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
    expect(await answerTextFor('turns', '', { messages: [hard], ...session })).toBe('from tier-r');
    const easy = { role: 'user', content: 'hi' };
    expect(await answerTextFor('turns', '', { messages: [easy, ...tool], ...session })).toBe('from tier-r');
    expect(await answerTextFor('turns', '', { messages: [easy], ...session })).toBe('from tier-s');
  });

  it('merge the parameters of a tier into the request', async () => {
    expect(await answerTextFor('effort', 'hi')).toBe('from tier-s');
    expect(upstream.seen[0]?.body).toMatchObject({ model: 'tier-s', reasoning_effort: 'low' });
  });

  it('use the fallbacks of the router where the model of the tier has none', async () => {
    upstream.failing.set('tier-s', 500);
    expect(await answerTextFor('effort', 'hi')).toBe('from spare');
  });
});

describe('refusals', () => {
  it('answer 403 to a key without the right to the model or router that it calls', async () => {
    const refused = await chat('tier-s', 'hi');
    expect(refused.status).toBe(403);
    const router = await chat('lost', 'hi');
    expect(router.status).toBe(403);
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

  it('answer 400 to an embedding', async () => {
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

  it('answer 422 after two calls whose judges use up the budget; judges do not count in rpm_limit', async () => {
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
