import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const TEAM_LIMITS = { requests: 6, tokens: 400 };
const KEY_LIMITS = { requests: 9, tokens: 2_000 };

/** Types of limits that a key overrides for the model, and the field of the key that has the override. */
const CASES = (['metadata', 'model_max_budget'] as const).flatMap((member) =>
  [[], ['requests'], ['tokens'], ['requests', 'tokens']].map((overridden) => ({ member, overridden })),
);

/** Members of a key that overrides limits of the model `priced`. */
function overrideOf({ member, overridden }: (typeof CASES)[number]): object {
  const requests = overridden.includes('requests') ? KEY_LIMITS.requests : undefined;
  const tokens = overridden.includes('tokens') ? KEY_LIMITS.tokens : undefined;
  if (overridden.length === 0) return {};
  if (member === 'model_max_budget')
    return { model_max_budget: { priced: { budget_limit: null, rpm_limit: requests, tpm_limit: tokens } } };
  const forModel = (limit: number | undefined) => (limit === undefined ? undefined : { priced: limit });
  return { metadata: { model_rpm_limit: forModel(requests), model_tpm_limit: forModel(tokens) } };
}

/** Headers of the model limits in which a call counts. */
const modelLimitHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-model_per_')));

/** Headers of one limit of a scope. */
const limitHeaders = (scope: string, type: 'requests' | 'tokens', limit: number, used: number) => ({
  [`x-ratelimit-${scope}-limit-${type}`]: String(limit),
  [`x-ratelimit-${scope}-remaining-${type}`]: String(limit - used),
});

async function ask(key: string, path: string, body: object): Promise<Response> {
  return calls.app.call('POST', path, body, { authorization: `Bearer ${key}` });
}

const chat = (key: string): Promise<Response> =>
  ask(key, '/v1/chat/completions', { model: 'priced', messages: [{ role: 'user', content: 'hi' }] });

describe.each(CASES)('a key that overrides these limits of a model in $member: $overridden', (override) => {
  const { member, overridden } = override;
  /** Limit of the counter of the key. Without an override, it is the limit of the team. */
  const limitOf = (type: 'requests' | 'tokens'): number => (overridden.includes(type) ? KEY_LIMITS : TEAM_LIMITS)[type];
  /** Tokens that a call reserves: one for the prompt, and a quarter of the smallest token limit of the call. */
  const expectedTokens = 1 + limitOf('tokens') / 4;

  async function newTeam(team_id: string): Promise<{ readonly key: string; readonly otherKey: string }> {
    const limits = {
      model_rpm_limit: { priced: TEAM_LIMITS.requests },
      model_tpm_limit: { priced: TEAM_LIMITS.tokens },
    };
    await calls.manage('/team/new', { team_id, ...limits });
    return { key: await calls.newKey({ team_id, ...overrideOf(override) }), otherKey: await calls.newKey({ team_id }) };
  }

  it('counts its calls in its own limits, and in the team limit of each type that it does not override', async () => {
    const { key, otherKey } = await newTeam(`counted-${member}-${overridden.join('-')}`);
    const answer = await chat(key);
    expect([answer.status, modelLimitHeaders(answer.headers)]).toEqual([
      200,
      {
        ...limitHeaders('model_per_key', 'requests', limitOf('requests'), 1),
        ...limitHeaders('model_per_key', 'tokens', limitOf('tokens'), expectedTokens),
        ...(overridden.includes('requests') ? {} : limitHeaders('model_per_team', 'requests', TEAM_LIMITS.requests, 1)),
        ...(overridden.includes('tokens')
          ? {}
          : limitHeaders('model_per_team', 'tokens', TEAM_LIMITS.tokens, expectedTokens)),
      },
    ]);
    // A key without an override counts in the team limits only. These limits also count the first call
    // (one request and the two tokens that it used), unless its key overrides that type.
    const otherKeyLimits = modelLimitHeaders((await chat(otherKey)).headers);
    expect(otherKeyLimits).toMatchObject({
      ...limitHeaders('model_per_team', 'requests', TEAM_LIMITS.requests, overridden.includes('requests') ? 1 : 2),
      ...limitHeaders(
        'model_per_team',
        'tokens',
        TEAM_LIMITS.tokens,
        1 + TEAM_LIMITS.tokens / 4 + (overridden.includes('tokens') ? 0 : 2),
      ),
    });
  });

  it('is refused by a used-up team limit only if it does not override that type', async () => {
    const team = `pool-${member}-${overridden.join('-')}`;
    const { key, otherKey } = await newTeam(team);
    // The calls use up both team limits: each one uses 2 tokens, and the last one all remaining tokens.
    for (let call = 0; call < TEAM_LIMITS.requests - 1; call += 1)
      expect((await calls.chat(otherKey)).status).toBe(200);
    const remaining = TEAM_LIMITS.tokens - 2 * (TEAM_LIMITS.requests - 1);
    calls.upstreamUses(remaining);
    expect((await calls.chat(otherKey)).status).toBe(200);
    calls.upstreamUses(2);
    // Request limits are checked before token limits.
    const refusingType = (['requests', 'tokens'] as const).find((type) => !overridden.includes(type));
    const answer = await chat(key);
    const { object, error } = (await answer.json()) as { readonly object?: string; readonly error?: object };
    const subject = `model_per_team: ${team}:priced. Limit type: ${refusingType}. Current limit: ${refusingType && TEAM_LIMITS[refusingType]}, Remaining: 0`;
    const refusal = {
      message: expect.stringContaining(subject) as string,
      type: 'throttling_error',
      param: null,
      code: '429',
    };
    const isRefused = refusingType !== undefined;
    expect({ status: answer.status, object, error }).toEqual({
      status: isRefused ? 429 : 200,
      object: isRefused ? undefined : 'chat.completion',
      error: isRefused ? refusal : undefined,
    });
  });

  it('may estimate costs beyond every limit, and the estimates count in no limit', async () => {
    const { key } = await newTeam(`estimates-${member}-${overridden.join('-')}`);
    const body = { model: 'priced', input_tokens: 10, output_tokens: 10 * KEY_LIMITS.tokens };
    for (let call = 0; call <= KEY_LIMITS.requests; call += 1) {
      const answer = await ask(key, '/cost/estimate', body);
      expect([answer.status, modelLimitHeaders(answer.headers)]).toEqual([200, {}]);
      // An output token of `priced` costs 1 USD.
      expect(await answer.json()).toMatchObject({ model: 'priced', cost_per_request: 10 * KEY_LIMITS.tokens });
    }
    const called = await chat(key);
    expect([called.status, called.headers.get('x-ratelimit-model_per_key-remaining-requests')]).toEqual([
      200,
      String(limitOf('requests') - 1),
    ]);
  });
});
