import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, CHAT, masks, type PolicyServer, startPolicies } from './policy-server.ts';

/** Guardrails that block `<name>-word`. */
const GUARDRAILS = ['base', 'own', 'piped', 'default'] as const;

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies([...GUARDRAILS.map((name) => blocks(name)), masks('mask', 'alpha', 'beta')], {
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

/** Members of a request whose model fails, so that the fallback is called. */
const withFallback = { model: 'down', fallbacks: ['chat'] };

describe('policies of models', () => {
  it('a call of a fallback is checked by policies of the first model and of the fallback', async () => {
    expect(await server.blockedWords(GUARDRAILS, withFallback)).toEqual(['base', 'own', 'piped', 'default']);
    const { status, headers } = await server.ask(CHAT, {
      ...withFallback,
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

  it('a call without a fallback is checked by policies of its model', async () => {
    expect(await server.blockedWords(GUARDRAILS)).toEqual(['base', 'own', 'piped']);
  });

  it('an attachment to a policy that is not in force does not replace the default', async () => {
    expect(await server.blockedWords(GUARDRAILS, { model: 'decider' })).toEqual(['default']);
  });
});
