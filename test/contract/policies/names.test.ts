import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PolicyServer, startPolicies } from './policy-server.ts';

let server: PolicyServer;
let key: string;

beforeAll(async () => {
  server = await startPolicies([], { policies: { filed: { guardrails: { add: [] } } } });
  await server.manage('POST', '/policies', { policy_name: 'stored' });
  await server.manage('POST', '/team/new', { team_id: 'red' });
  key = await server.keyOf({});
});
afterAll(() => server.stop());

const post = async (path: string, body: object): Promise<readonly [number, string]> => {
  const [status, answer] = await server.manage('POST', path, body);
  return [status, JSON.stringify(answer)];
};

/** Requests that name policies, by the member that has the names. */
const REQUESTS: readonly (readonly [string, (names: unknown) => object])[] = [
  ['/key/generate', (policies) => ({ policies })],
  ['/key/generate', (policies) => ({ metadata: { policies } })],
  ['/key/update', (policies) => ({ key, policies })],
  ['/team/new', (policies) => ({ policies })],
  ['/team/update', (policies) => ({ team_id: 'red', policies })],
  ['/team/update', (policies) => ({ team_id: 'red', metadata: { policies } })],
];

describe.each(REQUESTS)('%s: names of policies', (path, bodyOf) => {
  it('200: policies of the file and stored ones, and none', async () => {
    expect((await post(path, bodyOf(['filed', 'stored'])))[0]).toBe(200);
    expect((await post(path, bodyOf([])))[0]).toBe(200);
  });

  it('400: a policy that does not exist, and a value that is no list of names', async () => {
    expect(await post(path, bodyOf(['stored', 'gone']))).toEqual([
      400,
      expect.stringContaining("The policy 'gone' does not exist.") as string,
    ]);
    expect((await post(path, bodyOf('stored')))[0]).toBeGreaterThanOrEqual(400);
  });
});
