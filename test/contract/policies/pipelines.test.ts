import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, CHAT, masks, type PolicyServer, startPolicies } from './policy-server.ts';

const pipeline = (steps: readonly object[], mode = 'pre_call') => ({ mode, steps });
const policy = (add: readonly string[], steps: readonly object[], mode?: string) => ({
  guardrails: { add },
  pipeline: pipeline(steps, mode),
});

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies(
    [
      blocks('one'),
      blocks('two'),
      masks('mask', 'alpha', 'beta'),
      blocks('answer', { mode: 'post_call' }),
      {
        guardrail_name: 'down',
        litellm_params: {
          guardrail: 'openai_moderation',
          mode: 'pre_call',
          api_key: 'k',
          api_base: 'http://127.0.0.1:1',
        },
      },
    ],
    {
      policies: {
        both: policy(
          ['one', 'two'],
          [
            { guardrail: 'one', on_pass: 'allow', on_fail: 'next' },
            { guardrail: 'two', on_pass: 'allow', on_fail: 'block' },
          ],
        ),
        always: policy(['one'], [{ guardrail: 'one', on_pass: 'block' }]),
        passing: policy(
          ['mask', 'two'],
          [
            { guardrail: 'mask', on_pass: 'next', pass_data: true },
            { guardrail: 'two', on_pass: 'allow' },
          ],
        ),
        dropping: policy(['mask'], [{ guardrail: 'mask', on_pass: 'next' }]),
        polite: policy(
          ['one'],
          [{ guardrail: 'one', on_fail: 'modify_response', modify_response_message: 'Ask something else.' }],
        ),
        plain: policy(['one'], [{ guardrail: 'one', on_fail: 'modify_response' }]),
        open: policy(['down'], [{ guardrail: 'down', on_error: 'allow' }]),
        closed: policy(['down'], [{ guardrail: 'down' }]),
        after: policy(['answer'], [{ guardrail: 'answer', on_fail: 'modify_response' }], 'post_call'),
      },
    },
  );
});
afterAll(() => server.stop());

const ask = (text: string, name: string, members: object = {}, path = CHAT) =>
  server.ask(path, { model: 'chat', messages: [{ role: 'user', content: text }], policies: [name], ...members });
/** Error of a guardrail that blocks its word. */
const errorOf = (name: string) => ({
  message: `Content blocked: keyword '${name}-word' detected`,
  type: 'invalid_request_error',
  param: null,
  code: '400',
  provider_specific_fields: {
    error: `Content blocked: keyword '${name}-word' detected`,
    keyword: `${name}-word`,
    description: null,
    guardrail_name: name,
    guardrail_mode: 'pre_call',
  },
});

describe('pipelines of policies', () => {
  it('on_fail next continues; a blocked call has the error of the guardrail and all steps', async () => {
    const { status } = await ask('a one-word', 'both');
    expect(status).toBe(200);
    const blocked = await ask('one-word two-word', 'both');
    expect([blocked.status, blocked.body]).toEqual([
      400,
      {
        error: {
          ...errorOf('two'),
          pipeline_context: {
            policy: 'both',
            step_results: [
              { guardrail: 'one', outcome: 'fail', action: 'next' },
              { guardrail: 'two', outcome: 'fail', action: 'block' },
            ],
          },
        },
      },
    ]);
    expect(blocked.headers).toMatchObject({
      'x-litellm-applied-policies': 'both',
      'x-litellm-policy-sources': 'both=request',
      'x-litellm-applied-guardrails': 'pipeline:both',
    });
    expect(server.upstreamRequests()).toEqual([]);
  });

  it('a call that is blocked by on_pass has an error that names the pipeline', async () => {
    const { status, body } = await ask('hi', 'always');
    expect([status, body]).toEqual([
      400,
      {
        error: {
          message: "Content blocked by guardrail pipeline 'always'",
          type: 'invalid_request_error',
          param: null,
          code: '400',
          pipeline_context: {
            policy: 'always',
            step_results: [{ guardrail: 'one', outcome: 'pass', action: 'block' }],
          },
        },
      },
    ]);
  });

  it('edits reach the call only with pass_data', async () => {
    await ask('an alpha', 'passing');
    expect(server.upstreamRequests()[0]?.body).not.toContain('alpha');
    await ask('an alpha', 'dropping');
    expect(server.upstreamRequests()[0]?.body).toContain('an alpha');
  });

  it('modify_response answers chats, streams, messages and responses without a call to the model', async () => {
    const { status, body, headers } = await ask('a one-word', 'polite');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'Ask something else.' }, finish_reason: 'content_filter' }],
    });
    expect(headers['x-litellm-response-cost']).toBe('0');
    const streamed = await ask('a one-word', 'polite', { stream: true });
    expect(streamed.body).toContain('"finish_reason":"content_filter"');
    expect(String(streamed.body).endsWith('data: [DONE]\n\n')).toBe(true);
    const message = await ask('a one-word', 'plain', { model: 'claude', max_tokens: 9 }, '/v1/messages');
    expect(message.body).toMatchObject({ content: [{ text: "Content blocked: keyword 'one-word' detected" }] });
    const response = await server.ask('/v1/responses', { model: 'chat', input: 'a one-word', policies: ['polite'] });
    expect(JSON.stringify(response.body)).toContain('Ask something else.');
    expect(server.upstreamRequests()).toEqual([]);
  });

  it('a guardrail without an answer has the outcome on_error, by default that of on_fail', async () => {
    expect((await ask('hi', 'open')).status).toBe(200);
    const { status, body } = await ask('hi', 'closed');
    expect(status).toBe(502);
    expect(body).toMatchObject({ error: { code: '502' } });
    expect(server.upstreamRequests()).toEqual([]);
  });

  it('modify_response after the call replaces the text of the answer', async () => {
    server.setAnswer('an answer-word');
    const { status, body } = await ask('hi', 'after');
    server.setAnswer('hello there');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      choices: [{ message: { content: "Content blocked: keyword 'answer-word' detected" } }],
    });
  });
});
