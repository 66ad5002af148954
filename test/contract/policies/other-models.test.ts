import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, CHAT, masks, type PolicyServer, startPolicies } from './policy-server.ts';

const WORDS = ['base', 'own', 'piped', 'default'] as const;

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies([...WORDS.map((name) => blocks(name)), masks('mask', 'alpha', 'beta')], {
    policies: {
      attached: { guardrails: { add: ['base', 'mask'] } },
      conditional: { guardrails: { add: ['own'] }, condition: { model: 'chat' } },
      piped: {
        guardrails: { add: ['piped'] },
        condition: { model: 'chat' },
        pipeline: { mode: 'pre_call', steps: [{ guardrail: 'piped' }] },
      },
      standard: { guardrails: { add: ['default'] } },
    },
    policy_attachments: [
      { policy: 'attached', models: ['chat'] },
      { policy: 'conditional', scope: '*' },
      { policy: 'piped', scope: '*' },
      { policy: 'gone', scope: '*' },
      { policy: 'standard', default: true },
    ],
    router_settings: { num_retries: 0 },
  });
});
afterAll(() => server.stop());

const fallingBack = { model: 'down', fallbacks: ['chat'] };

describe('policies of a model that is called in place of another one', () => {
  it('they check the request for a fallback, with those of the first model', async () => {
    expect(await server.blockedWords(WORDS, fallingBack)).toEqual(['base', 'own', 'piped', 'default']);
    const { status, headers } = await server.ask(CHAT, {
      ...fallingBack,
      messages: [{ role: 'user', content: 'an alpha' }],
    });
    expect([status, headers['x-litellm-applied-policies'], headers['x-litellm-applied-guardrails']]).toEqual([
      200,
      'standard,attached,conditional,piped',
      'default,pipeline:piped,base,own,mask',
    ]);
    const [sent] = server.upstreamRequests();
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ messages: [{ role: 'user', content: 'an beta' }] });
  });

  it('without a fallback, those of the model apply', async () => {
    expect(await server.blockedWords(WORDS)).toEqual(['base', 'own', 'piped']);
  });

  it('an attachment whose policy is not in force does not replace the default', async () => {
    expect(await server.blockedWords(WORDS, { model: 'decider' })).toEqual(['default']);
  });
});
