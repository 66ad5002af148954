import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

type Type = 'requests' | 'tokens';

interface Caller {
  /** Id of each owner (user, team, organization …). It is also the tag of the calls. */
  readonly id: string;
  readonly key: string;
  readonly token: string;
}

const SCOPE_MEMBER = { requests: 'rpm_limit', tokens: 'tpm_limit' } as const;
const MODEL_MEMBER = { requests: 'model_rpm_limit', tokens: 'model_tpm_limit' } as const;
/** Limit that the calls of a test do not reach. */
const NOT_REACHED = 100_000;
/** Limit that replaces a used-up limit. It is not `NOT_REACHED`, so that a setter can tell the two apart. */
const LIFTED = 200_000;

const patch = (path: string, body: object) => calls.app.call('PATCH', path, body);

/** Setters of the limits of a call, in the order of the checks. */
const setLimit = {
  api_key: ({ key }: Caller, type: Type, limit: number) =>
    calls.manage('/key/update', { key, [SCOPE_MEMBER[type]]: limit }),
  user: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/user/update', { user_id: id, [SCOPE_MEMBER[type]]: limit }),
  team: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/team/update', { team_id: id, [SCOPE_MEMBER[type]]: limit }),
  team_member: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/team/member_update', { team_id: id, user_id: id, [SCOPE_MEMBER[type]]: limit }),
  end_user: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/budget/update', { budget_id: id, [SCOPE_MEMBER[type]]: limit }),
  // Without a map of models, a key has its own counter with the limit of its team. A map without
  // `priced` removes this counter.
  model_per_key: ({ key }: Caller, type: Type, limit: number) =>
    calls.manage('/key/update', { key, [MODEL_MEMBER[type]]: limit === LIFTED ? { free: NOT_REACHED } : null }),
  model_per_team: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/team/update', { team_id: id, [MODEL_MEMBER[type]]: { priced: limit } }),
  organization: ({ id }: Caller, type: Type, limit: number) =>
    patch('/organization/update', { organization_id: id, [SCOPE_MEMBER[type]]: limit }),
  model_per_organization: ({ id }: Caller, type: Type, limit: number) =>
    patch('/organization/update', { organization_id: id, [MODEL_MEMBER[type]]: { priced: limit } }),
  project: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/project/update', { project_id: id, [SCOPE_MEMBER[type]]: limit }),
  model_per_project: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/project/update', { project_id: id, [MODEL_MEMBER[type]]: { priced: limit } }),
  tag: ({ id }: Caller, type: Type, limit: number) =>
    calls.manage('/tag/update', { name: id, [SCOPE_MEMBER[type]]: limit }),
} as const;
type Scope = keyof typeof setLimit;
const ORDER = Object.keys(setLimit) as readonly Scope[];

const subjectOf = (scope: Scope, { id, token }: Caller): string =>
  ({
    api_key: token,
    user: id,
    team: id,
    team_member: `${id}:${id}`,
    end_user: id,
    model_per_key: `${token}:priced`,
    model_per_team: `${id}:priced`,
    organization: id,
    model_per_organization: `${id}:priced`,
    project: id,
    model_per_project: `${id}:priced`,
    tag: id,
  })[scope];

async function newCaller(id: string): Promise<Caller> {
  await calls.manage('/organization/new', { organization_id: id, organization_alias: id });
  await calls.manage('/user/new', { user_id: id, auto_create_key: false });
  await calls.manage('/budget/new', { budget_id: id });
  await calls.manage('/customer/new', { user_id: id, budget_id: id });
  await calls.manage('/tag/new', { name: id });
  await calls.manage('/team/new', { team_id: id, organization_id: id });
  await calls.manage('/team/member_add', { team_id: id, member: { role: 'user', user_id: id } });
  await calls.manage('/project/new', { team_id: id, project_id: id });
  const response = await calls.manage('/key/generate', { user_id: id, team_id: id, project_id: id });
  return { id, key: String(response['key']), token: String(response['token']) };
}

async function chat({ id, key }: Caller): Promise<Response> {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, user: id, tags: [id] };
  return calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
}

/** The headers about rate limits. */
const limitHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => /^(retry-after|rate_limit|reset_at|x-ratelimit)/.test(name)));

/** Refusal of a call whose limits are used up. In a new minute, the first call is admitted and uses up the limits. */
async function refusedAnswer(caller: Caller): Promise<{ status: number; headers: object; body: unknown }> {
  let answer = await chat(caller);
  if (answer.status === 200) {
    await answer.text();
    answer = await chat(caller);
  }
  return { status: answer.status, headers: limitHeaders(answer.headers), body: await answer.json() };
}

const RESET = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;

function expectedRefusal(subject: string, type: Type | 'max_parallel_requests', limit: number) {
  const text = `Rate limit exceeded for ${subject}. Limit type: ${type}. Current limit: ${limit}, Remaining: 0. Limit resets at: `;
  const message = expect.stringMatching(new RegExp(`^${RegExp.escape(text)}${RESET}$`)) as string;
  return {
    status: 429,
    headers: {
      'retry-after': '60',
      rate_limit_type: type,
      reset_at: expect.stringMatching(new RegExp(`^${RESET}$`)) as string,
    },
    body: { error: { message, type: 'throttling_error', param: null, code: '429' } },
  };
}

describe('limits that are all used up refuse a call in the order of the contract', () => {
  // One call uses one request and two tokens.
  it.each([
    ['requests', 1],
    ['tokens', 2],
  ] as const)('limits of %s of all scopes', async (type, limit) => {
    const caller = await newCaller(`of-${type}`);
    for (const scope of ORDER) await setLimit[scope](caller, type, NOT_REACHED);
    expect((await chat(caller)).status).toBe(200);
    for (const scope of ORDER) await setLimit[scope](caller, type, limit);
    const answers = [];
    for (const scope of ORDER) {
      answers.push(await refusedAnswer(caller));
      await setLimit[scope](caller, type, LIFTED);
    }
    expect(answers).toEqual(
      ORDER.map((scope) => expectedRefusal(`${scope}: ${subjectOf(scope, caller)}`, type, limit)),
    );
    expect((await chat(caller)).status).toBe(200);
  });

  it('request limits of a tag before token limits of a key', async () => {
    const caller = await newCaller('of-phases');
    await setLimit.api_key(caller, 'tokens', NOT_REACHED);
    await setLimit.tag(caller, 'requests', NOT_REACHED);
    expect((await chat(caller)).status).toBe(200);
    await setLimit.api_key(caller, 'tokens', 2);
    await setLimit.tag(caller, 'requests', 1);
    expect(await refusedAnswer(caller)).toEqual(expectedRefusal('tag: of-phases', 'requests', 1));
    await setLimit.tag(caller, 'requests', NOT_REACHED);
    expect(await refusedAnswer(caller)).toEqual(expectedRefusal(`api_key: ${caller.token}`, 'tokens', 2));
  });

  it('limits of parallel calls after request limits and before token limits', async () => {
    const caller = await newCaller('of-slots');
    const { key, token } = caller;
    await setLimit.api_key(caller, 'tokens', NOT_REACHED);
    await setLimit.tag(caller, 'requests', NOT_REACHED);
    await calls.manage('/key/update', { key, max_parallel_requests: 1 });
    expect((await chat(caller)).status).toBe(200);
    const upstreamResponse = Promise.withResolvers<ServerResponse>();
    calls.upstream.answer((response) => upstreamResponse.resolve(response));
    const pendingCall = chat(caller);
    const response = await upstreamResponse.promise;
    calls.upstreamUses(2);
    await setLimit.tag(caller, 'requests', 1);
    await setLimit.api_key(caller, 'tokens', 1);
    // The first call of a new minute passes the request limit and counts in it, so the next call is refused.
    const requestRefusal = expectedRefusal('tag: of-slots', 'requests', 1);
    await vi.waitFor(async () => expect(await refusedAnswer(caller)).toEqual(requestRefusal), POLLING);
    await setLimit.tag(caller, 'requests', NOT_REACHED);
    expect(await refusedAnswer(caller)).toEqual(expectedRefusal(`api_key: ${token}`, 'max_parallel_requests', 1));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(calls.answerOf(2));
    const answer = await pendingCall;
    await answer.text();
    expect(answer.status).toBe(200);
    const tokenRefusal = expectedRefusal(`api_key: ${token}`, 'tokens', 1);
    await vi.waitFor(async () => expect(await refusedAnswer(caller)).toEqual(tokenRefusal), POLLING);
  });

  it('limits of a tag for one key after limits of the tag', async () => {
    const caller = await newCaller('of-tags');
    const { key, token } = caller;
    await calls.manage('/key/update', { key, tag_rpm_limit: { 'of-tags': NOT_REACHED } });
    await setLimit.tag(caller, 'requests', NOT_REACHED);
    expect((await chat(caller)).status).toBe(200);
    await calls.manage('/key/update', { key, tag_rpm_limit: { 'of-tags': 1 } });
    await setLimit.tag(caller, 'requests', 1);
    expect(await refusedAnswer(caller)).toEqual(expectedRefusal('tag: of-tags', 'requests', 1));
    await setLimit.tag(caller, 'requests', NOT_REACHED);
    expect(await refusedAnswer(caller)).toEqual(expectedRefusal(`tag_per_key: ${token}:of-tags`, 'requests', 1));
  });
});
