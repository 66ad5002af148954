import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_WRONG_KEYS } from '../../../src/domain/keys/failed-keys.ts';
import { type McpGateway, rpc, startMcpGateway } from './mcp-gateway.ts';

let gateway: McpGateway;

beforeAll(async () => {
  gateway = await startMcpGateway();
});
afterAll(() => gateway.stop());

/** Statuses of requests with different credentials: more than an address may send wrong keys in a minute. */
async function statusesOf(credentialOf: (index: number) => string): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  for (let index = 0; index <= DEFAULT_WRONG_KEYS + 1; index += 1) {
    const headers = { authorization: `Bearer ${credentialOf(index)}` };
    statuses.add((await gateway.send(rpc('ping'), { path: '/passed/mcp', headers })).status);
  }
  return statuses;
}

const statusOfUnknownKey = async (): Promise<number> =>
  (await gateway.app.call('GET', '/v1/models', undefined, { authorization: 'Bearer sk-unknown' })).status;

it('tokens for an upstream do not count as wrong keys of their address', async () => {
  expect(await statusesOf((index) => `token-${index}`)).toEqual(new Set([200]));
  expect(await statusOfUnknownKey()).toBe(401);
});

it('wrong keys of the gateway count as wrong keys of their address, also at a server that needs no key', async () => {
  expect(await statusesOf((index) => `sk-wrong-${index}`)).toContain(429);
});
