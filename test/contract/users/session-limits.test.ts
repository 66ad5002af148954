import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

let calls: OwnerCalls;
let users = 0;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

/** A key of a new user. `open` signs in with it, and returns the key of the session. */
async function keyOfUser(draft: object) {
  users += 1;
  const userId = `person-${users}`;
  await calls.manage('/user/new', { user_id: userId, user_role: 'internal_user' });
  const key = await calls.newKey({ user_id: userId, ...draft });
  return {
    key,
    userId,
    hash: keyGenerator.hash(key),
    async open(): Promise<string> {
      const answer = await calls.app.call(
        'POST',
        '/v2/login',
        { username: userId, password: key },
        { authorization: '' },
      );
      expect(answer.status).toBe(200);
      return String(((await answer.json()) as { readonly token: unknown }).token);
    },
  };
}

const statusOf = async (key: string, model = 'free'): Promise<number> => (await calls.chat(key, model)).status;

/** Status and message of a refused call. */
async function refusal(key: string, model = 'free'): Promise<readonly [number, string]> {
  const { status, body } = await calls.chat(key, model);
  return [status, (body as { readonly error: { readonly message: string } }).error.message];
}

describe('calls of sessions', () => {
  it.each<[string, object, (hash: string) => string]>([
    ['rpm_limit', { rpm_limit: 2 }, (hash) => `api_key: ${hash}. Limit type: requests`],
    ['tpm_limit', { tpm_limit: 4 }, (hash) => `api_key: ${hash}. Limit type: tokens`],
    [
      'model_rpm_limit',
      { model_rpm_limit: { free: 2 } },
      (hash) => `model_per_key: ${hash}:free. Limit type: requests`,
    ],
    [
      'tag_rpm_limit, for a tag of the key',
      { tags: ['x'], tag_rpm_limit: { x: 2 } },
      (hash) => `tag_per_key: ${hash}:x. Limit type: requests`,
    ],
  ])('count together in the limits of their key: %s', async (_, draft, text) => {
    const { key, hash, open } = await keyOfUser(draft);
    const sessions = [await open(), await open(), await open()];
    expect([await statusOf(sessions[0] ?? ''), await statusOf(sessions[1] ?? '')]).toEqual([200, 200]);
    for (const other of [sessions[2] ?? '', key])
      expect(await refusal(other)).toEqual([429, expect.stringContaining(text(hash))]);
  });

  it('count in the limits of the budget row that their key names', async () => {
    await calls.manage('/budget/new', { budget_id: 'slow', rpm_limit: 1 });
    const { hash, open } = await keyOfUser({ budget_id: 'slow' });
    const sessions = [await open(), await open()];
    expect(await statusOf(sessions[0] ?? '')).toBe(200);
    expect(await refusal(sessions[1] ?? '')).toEqual([429, expect.stringContaining(`api_key: ${hash}.`)]);
  });

  it('have no budget of their own where their key has one, also with a temporary increase', async () => {
    const { key, open } = await keyOfUser({
      max_budget: 5,
      metadata: { temp_budget_increase: 5, temp_budget_expiry: '2100-01-01T00:00:00Z' },
    });
    const session = await open();
    expect(await refusal(session, 'priced')).toEqual([422, expect.stringContaining('Budget has been exceeded')]);
    expect([await statusOf(session), await statusOf(key, 'priced')]).toEqual([200, 200]);
  });
});

describe('changes of a key apply to its sessions at once', () => {
  it.each<[string, object, string, number]>([
    ['its models', { models: ['free'] }, 'priced', 403],
    ['its budget', { max_budget: 5 }, 'priced', 422],
    ['a limit', { rpm_limit: 0 }, 'free', 429],
    ['its routes', { allowed_routes: ['/v1/embeddings'] }, 'free', 403],
    ['a block', { blocked: true }, 'free', 401],
  ])('%s', async (_, change, model, status) => {
    const { key, open } = await keyOfUser({});
    const session = await open();
    expect(await statusOf(session, model)).toBe(200);
    await calls.manage('/key/update', { key, ...change });
    expect(await statusOf(session, model)).toBe(status);
  });

  it.each<[string, (key: string) => readonly [path: string, body: object]]>([
    ['blocked', (key) => ['/key/block', { key }]],
    ['rotated', (key) => ['/key/regenerate', { key }]],
    ['deleted', (key) => ['/key/delete', { keys: [key] }]],
  ])('its end, when it is %s', async (_, change) => {
    const { key, open } = await keyOfUser({});
    const session = await open();
    expect(await statusOf(session)).toBe(200);
    await calls.manage(...change(key));
    expect(await statusOf(session)).toBe(401);
  });

  it('its role', async () => {
    const { key, userId, open } = await keyOfUser({ user_role: 'proxy_admin' });
    await calls.manage('/user/update', { user_id: userId, user_role: 'proxy_admin' });
    const session = await open();
    const listing = async () =>
      (await calls.app.call('GET', '/user/list', undefined, { authorization: `Bearer ${session}` })).status;
    expect(await listing()).toBe(200);
    await calls.manage('/key/update', { key, user_role: 'internal_user' });
    expect(await listing()).toBe(403);
  });
});
