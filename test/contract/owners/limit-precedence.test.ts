import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const TEAM = { requests: 6, tokens: 400 };
const OWN = { requests: 9, tokens: 2_000 };

/** Types of limits that a key overrides for the model, and the member of the key with the override. */
const CASES = (['metadata', 'model_max_budget'] as const).flatMap((place) =>
  [[], ['requests'], ['tokens'], ['requests', 'tokens']].map((own) => ({ place, own })),
);

/** Members of a key that overrides limits of the model `priced`. */
function overrideOf({ place, own }: (typeof CASES)[number]): object {
  const requests = own.includes('requests') ? OWN.requests : undefined;
  const tokens = own.includes('tokens') ? OWN.tokens : undefined;
  if (own.length === 0) return {};
  if (place === 'model_max_budget')
    return { model_max_budget: { priced: { budget_limit: null, rpm_limit: requests, tpm_limit: tokens } } };
  const of = (limit: number | undefined) => (limit === undefined ? undefined : { priced: limit });
  return { metadata: { model_rpm_limit: of(requests), model_tpm_limit: of(tokens) } };
}

/** Headers of the model limits in which a call counts. */
const countedIn = (headers: Headers): Record<string, string> =>
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

describe.each(CASES)('a key that overrides these limits of a model in $place: $own', (override) => {
  const { place, own } = override;
  const of = (type: 'requests' | 'tokens'): number => (own.includes(type) ? OWN : TEAM)[type];
  /** Expected tokens: one of the prompt, and a quarter of the smallest token limit of the call. */
  const expected = 1 + of('tokens') / 4;

  async function newTeam(team_id: string): Promise<{ readonly key: string; readonly other: string }> {
    const limits = { model_rpm_limit: { priced: TEAM.requests }, model_tpm_limit: { priced: TEAM.tokens } };
    await calls.manage('/team/new', { team_id, ...limits });
    return { key: await calls.newKey({ team_id, ...overrideOf(override) }), other: await calls.newKey({ team_id }) };
  }

  it('counts in its own limits, and in the team limit of each type that it does not override', async () => {
    const { key, other } = await newTeam(`counted-${place}-${own.join('-')}`);
    const answer = await chat(key);
    expect([answer.status, countedIn(answer.headers)]).toEqual([
      200,
      {
        ...limitHeaders('model_per_key', 'requests', of('requests'), 1),
        ...limitHeaders('model_per_key', 'tokens', of('tokens'), expected),
        ...(own.includes('requests') ? {} : limitHeaders('model_per_team', 'requests', TEAM.requests, 1)),
        ...(own.includes('tokens') ? {} : limitHeaders('model_per_team', 'tokens', TEAM.tokens, expected)),
      },
    ]);
    // Remaining limits of the other keys of the team. The first call used two tokens.
    const others = countedIn((await chat(other)).headers);
    expect(others).toMatchObject({
      ...limitHeaders('model_per_team', 'requests', TEAM.requests, own.includes('requests') ? 1 : 2),
      ...limitHeaders('model_per_team', 'tokens', TEAM.tokens, 1 + TEAM.tokens / 4 + (own.includes('tokens') ? 0 : 2)),
    });
  });

  it('is refused by a used-up team limit only if it does not override that type', async () => {
    const team = `pool-${place}-${own.join('-')}`;
    const { key, other } = await newTeam(team);
    // Each call uses 2 tokens of the team limit, and the last one all remaining tokens.
    for (let call = 0; call < TEAM.requests - 1; call += 1) expect((await calls.chat(other)).status).toBe(200);
    const remaining = TEAM.tokens - 2 * (TEAM.requests - 1);
    calls.upstreamUses(remaining);
    expect((await calls.chat(other)).status).toBe(200);
    calls.upstreamUses(2);
    const first = (['requests', 'tokens'] as const).find((type) => !own.includes(type));
    const answer = await chat(key);
    const { object, error } = (await answer.json()) as { readonly object?: string; readonly error?: object };
    const subject = `model_per_team: ${team}:priced. Limit type: ${first}. Current limit: ${first && TEAM[first]}, Remaining: 0`;
    const refusal = {
      message: expect.stringContaining(subject) as string,
      type: 'throttling_error',
      param: null,
      code: '429',
    };
    const isRefused = first !== undefined;
    expect({ status: answer.status, object, error }).toEqual({
      status: isRefused ? 429 : 200,
      object: isRefused ? undefined : 'chat.completion',
      error: isRefused ? refusal : undefined,
    });
  });

  it('may estimate costs beyond every limit, and the estimates count in no limit', async () => {
    const { key } = await newTeam(`estimates-${place}-${own.join('-')}`);
    const body = { model: 'priced', input_tokens: 10, output_tokens: 10 * OWN.tokens };
    for (let call = 0; call <= OWN.requests; call += 1) {
      const answer = await ask(key, '/cost/estimate', body);
      expect([answer.status, countedIn(answer.headers)]).toEqual([200, {}]);
      expect(await answer.json()).toMatchObject({ model: 'priced', cost_per_request: 10 * OWN.tokens });
    }
    const called = await chat(key);
    expect([called.status, called.headers.get('x-ratelimit-model_per_key-remaining-requests')]).toEqual([
      200,
      String(of('requests') - 1),
    ]);
  });
});
