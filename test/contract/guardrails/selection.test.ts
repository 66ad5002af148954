import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const CHAT = '/v1/chat/completions';
/** Filter that blocks its name followed by `-word`: the guardrail `first` blocks `first-word`. */
const blockFilter = (name: string, params: object = {}) =>
  contentFilter(name, { blocked_words: [{ keyword: `${name}-word`, action: 'BLOCK' }], ...params });

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded(
    [
      blockFilter('first'),
      blockFilter('second'),
      blockFilter('always', { default_on: true }),
      blockFilter('model'),
      contentFilter('one', { blocked_words: [{ keyword: 'alpha', action: 'MASK' }], keyword_redaction_tag: 'beta' }),
      contentFilter('two', { blocked_words: [{ keyword: 'beta', action: 'MASK' }], keyword_redaction_tag: 'gamma' }),
      blockFilter('tools-skipped', { skip_tool_message_in_guardrail: true, skip_system_message_in_guardrail: true }),
    ],
    {
      models: { 'guarded-model': ['model'], 'lost-model': ['gone'] },
    },
  );
});
afterAll(() => guarded.stop());

const chat = (text: string, members: object = {}) => ({
  model: 'chat',
  messages: [{ role: 'user', content: text }],
  ...members,
});

/** Names of the guardrails that block a call with their word. */
async function blockingGuardrails(members: object, headers: Record<string, string> = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of ['first', 'second', 'always', 'model']) {
    const { status } = await guarded.ask(CHAT, chat(`a ${name}-word`, members), headers);
    if (status === 400) found.push(name);
  }
  return found;
}

describe('selection of guardrails', () => {
  it('default guardrails run without being named; the request and its metadata add others', async () => {
    expect(await blockingGuardrails({})).toEqual(['always']);
    expect(await blockingGuardrails({ guardrails: ['first'] })).toEqual(['first', 'always']);
    expect(await blockingGuardrails({ guardrails: [{ first: {} }] })).toEqual(['first', 'always']);
    expect(await blockingGuardrails({ metadata: { guardrails: ['second'] }, guardrails: ['first'] })).toEqual([
      'first',
      'second',
      'always',
    ]);
  });

  it('a guardrail of the model runs', async () => {
    expect(await blockingGuardrails({ model: 'guarded-model' })).toEqual(['always', 'model']);
  });

  it('400: a guardrail of the fallback model runs', async () => {
    const { status } = await guarded.ask(CHAT, chat('a model-word', { model: 'down', fallbacks: ['guarded-model'] }));
    expect(status).toBe(400);
  });

  it('the metadata of the key add or disable guardrails; opt-outs in a request are ignored', async () => {
    expect(await blockingGuardrails({}, await guarded.newKey({ metadata: { guardrails: ['first'] } }))).toEqual([
      'first',
      'always',
    ]);
    expect(
      await blockingGuardrails({}, await guarded.newKey({ metadata: { disable_global_guardrails: true } })),
    ).toEqual([]);
    expect(
      await blockingGuardrails({}, await guarded.newKey({ metadata: { opted_out_global_guardrails: ['always'] } })),
    ).toEqual([]);
    expect(
      await blockingGuardrails({ disable_global_guardrails: true, opted_out_global_guardrails: ['always'] }),
    ).toEqual(['always']);
    expect(await blockingGuardrails({ metadata: { disable_global_guardrails: true } })).toEqual(['always']);
  });

  it('503: calls of a key and of a model whose guardrail does not exist', async () => {
    const params = { guardrail: 'litellm_content_filter', mode: 'pre_call' };
    const guardrail = { guardrail_id: 'gone', guardrail_name: 'gone', litellm_params: params };
    await guarded.app.call('POST', '/guardrails', { guardrail });
    const key = await guarded.newKey({ metadata: { guardrails: ['gone'] } });
    await guarded.app.call('DELETE', '/guardrails/gone');
    const message = "The guardrail 'gone' of this call is not configured, so the call is refused.";
    expect(await guarded.ask(CHAT, chat('hi'), key)).toMatchObject({ status: 503, body: { error: { message } } });
    expect(await guarded.ask(CHAT, chat('hi', { model: 'lost-model', fallbacks: ['chat'] }))).toMatchObject({
      status: 503,
      body: { error: { message } },
    });
  });

  it('masks are applied one after the other, in the order of the configuration', async () => {
    const answer = await guarded.ask(CHAT, chat('alpha', { guardrails: ['two', 'one'] }));
    expect(answer.headers['x-litellm-applied-guardrails']).toBe('always,one,two');
    expect(guarded.upstreamRequests()[0]?.body).toContain('"gamma"');
  });

  it('a guardrail configured to skip system and tool messages checks only the others', async () => {
    const messages = [
      { role: 'system', content: 'tools-skipped-word' },
      { role: 'user', content: 'call' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'tools-skipped-word' },
    ];
    const body = { model: 'chat', messages, guardrails: ['tools-skipped'] };
    expect((await guarded.ask(CHAT, body)).status).toBe(200);
    const longerMessages = [...messages, { role: 'user', content: 'tools-skipped-word' }];
    expect((await guarded.ask(CHAT, { ...body, messages: longerMessages })).status).toBe(400);
  });

  it.each([
    [{ guardrails: 'first' }, "/chat/completions: Invalid type for parameter 'guardrails': it must be an array."],
    [{ guardrails: [7] }, "/chat/completions: Invalid type for parameter 'guardrails': it must be an array of names."],
    [
      { guardrails: [{ first: { extra_body: { a: 1 } } }] },
      "/chat/completions: The guardrail 'first' takes no parameters from a request.",
    ],
  ])('400: an invalid list of guardrails: %j', async (members, message) => {
    const answer = await guarded.ask(CHAT, chat('hi', members));
    expect(answer).toMatchObject({ status: 400, body: { error: { message, param: 'guardrails' } } });
    expect(guarded.upstreamRequests()).toEqual([]);
  });
});
