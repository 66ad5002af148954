import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocks, CHAT, masks, type PolicyServer, startPolicies } from './policy-server.ts';

/** Guardrails that block `<name>-word`. */
const GUARDRAILS = ['base', 'extra', 'team', 'tagged', 'named', 'fallback'] as const;

let server: PolicyServer;
beforeAll(async () => {
  server = await startPolicies([...GUARDRAILS.map((name) => blocks(name)), masks('mask', 'alpha', 'beta')], {
    policies: {
      base: { guardrails: { add: ['base', 'extra'] } },
      strict: { inherit: 'base', guardrails: { add: ['team'], remove: ['extra'] } },
      tagged: { guardrails: { add: ['tagged'] } },
      named: { guardrails: { add: ['named'] } },
      fallback: { guardrails: { add: ['fallback'] } },
      every: { guardrails: { add: ['named'] }, condition: { model: [] } },
      some: { guardrails: { add: ['extra'] }, condition: { model: ['cl.*e', 'other'] } },
      orphan: { inherit: 'gone', guardrails: { add: ['base'] } },
      lost: { guardrails: { add: ['no-such-guardrail'] } },
      masking: { guardrails: { add: ['mask'] } },
    },
    policy_attachments: [
      { policy: 'strict', teams: ['sales'], priority: 2 },
      { policy: 'tagged', teams: ['sales'], tags: ['health-*'], priority: 1 },
      { policy: 'fallback', default: true },
      { policy: 'orphan', keys: ['orphan-key'] },
      { policy: 'lost', keys: ['lost-key'] },
      { policy: 'some', keys: ['some-*'] },
    ],
  });
  await server.app.call('POST', '/team/new', { team_id: 't1', team_alias: 'sales' });
});
afterAll(() => server.stop());

/** Body of a chat. */
const chat = (text: string, members: object = {}) => ({
  model: 'chat',
  messages: [{ role: 'user', content: text }],
  ...members,
});
/** Headers of an answer that name policies and guardrails. */
const policyHeadersOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => ({
  policies: headers['x-litellm-applied-policies'],
  sources: headers['x-litellm-policy-sources'],
  guardrails: headers['x-litellm-applied-guardrails'],
});

describe('policies of calls', () => {
  it('the default attachment applies only if no other attachment does', async () => {
    expect(await server.blockedWords(GUARDRAILS)).toEqual(['fallback']);
    expect(policyHeadersOf(await server.ask(CHAT, chat('hi')))).toEqual({
      policies: 'fallback',
      sources: 'fallback=scope:default',
      guardrails: 'fallback',
    });
  });

  it('an attachment to a team applies inherited and added guardrails, without removed ones', async () => {
    const key = await server.newKey({ team_id: 't1' });
    expect(await server.blockedWords(GUARDRAILS, {}, key)).toEqual(['base', 'team']);
    expect(policyHeadersOf(await server.ask(CHAT, chat('hi'), key))).toEqual({
      policies: 'strict',
      sources: 'strict=team:sales',
      guardrails: 'base,team',
    });
  });

  it('teams and tags of an attachment must both match; the lowest priority number is first', async () => {
    const key = await server.newKey({ team_id: 't1' });
    const members = { metadata: { tags: ['health-1'] } };
    expect(await server.blockedWords(GUARDRAILS, members, key)).toEqual(['base', 'team', 'tagged']);
    expect(policyHeadersOf(await server.ask(CHAT, chat('hi', members), key)).sources).toBe(
      'tagged=tag:health-1+team:sales; strict=team:sales',
    );
    expect(await server.blockedWords(['tagged'], members)).toEqual([]);
  });

  it('a request and a key can name policies', async () => {
    expect(await server.blockedWords(GUARDRAILS, { policies: ['named'] })).toEqual(['named', 'fallback']);
    const key = await server.newKey({ policies: ['named'] });
    expect(await server.blockedWords(GUARDRAILS, {}, key)).toEqual(['named', 'fallback']);
    expect(policyHeadersOf(await server.ask(CHAT, chat('hi', { policies: ['base'] }), key)).sources).toBe(
      'fallback=scope:default; named=key; base=request',
    );
    expect(server.upstreamRequests()[0]?.body).not.toContain('policies');
  });

  it('a policy with a condition applies to its models only', async () => {
    const key = await server.newKey({ key_alias: 'some-1' });
    expect(await server.blockedWords(GUARDRAILS, {}, key)).toEqual(['fallback']);
    const claude = { model: 'claude', max_tokens: 5 };
    expect(await server.blockedWords(GUARDRAILS, claude, key)).toEqual(['extra']);
  });

  it('a condition without models applies to all models', async () => {
    expect(await server.blockedWords(['named'], { policies: ['every'] })).toEqual(['named']);
  });

  it('guardrails of policies edit texts of chats, messages and responses', async () => {
    const masked = { policies: ['masking'] };
    await server.ask(CHAT, chat('an alpha', masked));
    expect(server.upstreamRequests()[0]?.body).not.toContain('alpha');
    await server.ask('/v1/responses', { model: 'chat', input: 'an alpha', ...masked });
    expect(server.upstreamRequests()[0]?.body).not.toContain('alpha');
    await server.ask('/v1/messages', {
      model: 'claude',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'an alpha' }],
      ...masked,
    });
    expect(server.upstreamRequests()[0]?.body).not.toContain('alpha');
  });

  it('400: a request names an unknown policy, or sends no list of names', async () => {
    const unknown = await server.ask(CHAT, chat('hi', { policies: ['nope'] }));
    expect([unknown.status, unknown.body]).toEqual([
      400,
      {
        error: {
          message: "The policy 'nope' does not exist. Remove it from 'policies', or name one that is in force.",
          type: 'invalid_request_error',
          param: 'policies',
          code: '400',
        },
      },
    ]);
    const wrong = await server.ask(CHAT, chat('hi', { policies: 'named' }));
    expect([wrong.status, wrong.body]).toEqual([
      400,
      {
        error: {
          message:
            "/chat/completions: Invalid type for parameter 'policies': it must be an array of at most 100 names.",
          type: 'invalid_request_error',
          param: 'policies',
          code: '400',
        },
      },
    ]);
  });

  it('503: a policy with an unknown guardrail or parent, and a key with an unknown policy', async () => {
    const refusal = (message: string) => [
      503,
      { error: { message, type: 'service_unavailable', param: null, code: '503' } },
    ];
    const outcome = async (draft: object) => {
      const { status, body } = await server.ask(CHAT, chat('hi'), await server.newKey(draft));
      return [status, body];
    };
    expect(await outcome({ key_alias: 'lost-key' })).toEqual(
      refusal("The guardrail 'no-such-guardrail' of this call is not configured, so the call is refused."),
    );
    expect(await outcome({ key_alias: 'orphan-key' })).toEqual(
      refusal(
        "The policy 'orphan' of this call cannot run: the parent policy 'gone' of 'orphan' is not in force. The call is refused.",
      ),
    );
    const [, made] = await server.manage('POST', '/policies', { policy_name: 'removed' });
    const ofRemoved = await server.newKey({ policies: ['removed'] });
    const { policy_id: id } = made as { readonly policy_id: string };
    expect((await server.manage('DELETE', `/policies/${id}`))[0]).toBe(200);
    const refused = await server.ask(CHAT, chat('hi'), ofRemoved);
    expect([refused.status, refused.body]).toEqual(
      refusal("The policy 'removed' of this call is not in force, so the call is refused."),
    );
    expect(server.upstreamRequests()).toEqual([]);
  });

  it('403: a request names a policy, and its team may not change guardrails', async () => {
    await server.app.call('POST', '/team/new', {
      team_id: 't2',
      metadata: { guardrails: { modify_guardrails: false } },
    });
    const key = await server.newKey({ team_id: 't2' });
    const { status } = await server.ask(CHAT, chat('hi', { policies: ['named'] }), key);
    expect(status).toBe(403);
  });
});
