import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, type PolicyServer, startPolicies } from '../contract/policies/policy-server.ts';

let server: PolicyServer;
let openai: OpenAI;

beforeAll(async () => {
  server = await startPolicies([blocks('bad')], {
    policies: {
      strict: { guardrails: { add: ['bad'] } },
      polite: {
        guardrails: { add: ['bad'] },
        pipeline: {
          mode: 'pre_call',
          steps: [{ guardrail: 'bad', on_fail: 'modify_response', modify_response_message: 'No.' }],
        },
      },
    },
    policy_attachments: [{ policy: 'strict', keys: ['strict-*'] }],
    prompts: [
      {
        prompt_id: 'greet',
        litellm_params: {
          prompt_integration: 'dotprompt',
          dotprompt_content: 'System: Be kind.\nUser: Greet {{name}}.',
        },
      },
    ],
  });
  const { authorization } = await server.newKey({ key_alias: 'strict-1' });
  openai = new OpenAI({
    apiKey: authorization.slice('Bearer '.length),
    baseURL: `${server.app.url}/v1`,
    maxRetries: 0,
  });
});
afterAll(() => server.stop());

const userMessages = (content: string) => [{ role: 'user' as const, content }];

describe('policies and prompts with the official SDK', () => {
  it('a call that a policy blocks is a BadRequestError with the details of the guardrail', async () => {
    await expect(
      openai.chat.completions.create({ model: 'chat', messages: userMessages('a bad-word') }),
    ).rejects.toMatchObject({ status: 400, error: { provider_specific_fields: { guardrail_name: 'bad' } } });
  });

  it('a stream with the message of a pipeline ends with content_filter', async () => {
    const { authorization } = await server.newKey({ policies: ['polite'] });
    const politeClient = new OpenAI({ apiKey: authorization.slice('Bearer '.length), baseURL: `${server.app.url}/v1` });
    const stream = await politeClient.chat.completions.create({
      model: 'chat',
      messages: userMessages('a bad-word'),
      stream: true,
    });
    let text = '';
    let finish: string | null = null;
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      finish = choices[0]?.finish_reason ?? finish;
    }
    expect([text, finish]).toEqual(['No.', 'content_filter']);
  });

  it('a prompt is rendered before the messages of the call', async () => {
    const body = {
      model: 'chat',
      messages: userMessages('Now.'),
      prompt_id: 'greet',
      prompt_variables: { name: 'Bo' },
    };
    const answer = await openai.chat.completions.create(body);
    expect(answer.choices[0]?.message.content).toBe('hello there');
    expect(JSON.parse(server.upstream.received.at(-1)?.body ?? '{}')).toMatchObject({
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Greet Bo.' },
        { role: 'user', content: 'Now.' },
      ],
    });
  });
});
