import { expect, it } from 'vitest';
import { OpenAmounts } from '../../../src/domain/admission/open-amounts.ts';
import type { Usd } from '../../../src/domain/money.ts';
import { createOpenCosts, type OpenObject } from '../../../src/gateway/admission/open-costs.ts';
import { aDeployment, aKey, aModelRequest } from '../../support/chat.ts';

const KEY = aKey({ hash: 'k', teamId: 't', userId: null });
const AT = aDeployment({ id: 'd' });
const object = (id: string, openCost = 5n): OpenObject => ({
  id,
  deploymentId: 'd',
  owner: { keyHash: 'k', teamId: 't' },
  openCost: openCost as Usd,
});

function aSetup({ reservesCosts = true } = {}) {
  const amounts = new OpenAmounts();
  const clock = { ms: 0 };
  let keyReads = 0;
  const openCosts = createOpenCosts({
    amounts,
    budgets: { windowsOf: () => undefined, readWindows: () => Promise.resolve([{ name: 'w', endMs: 1 }]) },
    expectations: { of: () => ({ cost: 7n as Usd, learn() {} }) },
    deployment: (id) => (id === 'd' ? AT : null),
    batchCost: (_deployment, tokens) => BigInt(tokens) as Usd,
    async keyOf() {
      keyReads += 1;
      return KEY;
    },
    reservesCosts,
    clock: { monotonicMs: () => clock.ms },
  });
  const stored = (...ids: readonly string[]) => openCosts.refresh(() => Promise.resolve(ids.map((id) => object(id))));
  return { amounts, openCosts, clock, stored, keyReads: () => keyReads };
}

it('holds a new object in the budgets of its owners at once, and until it is released', () => {
  const { amounts, openCosts } = aSetup();
  openCosts.hold(KEY, object('a'));
  openCosts.hold(KEY, object('b', 3n));
  expect([amounts.of('key:k'), amounts.of('team:t'), amounts.of('key:other')]).toEqual([8n, 8n, 0n]);
  openCosts.release('a');
  openCosts.release('a');
  expect(amounts.of('key:k')).toBe(3n);
  openCosts.release('b');
  expect(amounts.isEmpty).toBe(true);
});

it('holds the stored objects of earlier and other processes, also in budget windows', async () => {
  const { amounts, stored, keyReads, clock } = aSetup();
  await stored('a', 'b');
  expect([amounts.of('key:k'), amounts.of('window:w')]).toEqual([10n, 10n]);
  await stored('a', 'b');
  expect(keyReads()).toBe(2);
  clock.ms = 60_000;
  await stored('a');
  expect([keyReads(), amounts.of('key:k')]).toEqual([3, 5n]);
});

it('keeps an object that is not stored yet, and does not hold a released one again', async () => {
  const { amounts, openCosts, stored, clock } = aSetup();
  openCosts.hold(KEY, object('new'));
  await stored();
  expect(amounts.of('key:k')).toBe(5n);
  openCosts.release('new');
  await stored('new');
  expect(amounts.isEmpty).toBe(true);
  // Its row is still open after a while: its cost was not recorded.
  clock.ms = 10_001;
  await stored('new');
  expect(amounts.of('key:k')).toBe(5n);
});

it('keeps the held amounts when the stored objects cannot be read', async () => {
  const { amounts, openCosts, stored, clock } = aSetup();
  await stored('a');
  clock.ms = 20_000;
  await expect(openCosts.refresh(() => Promise.reject(new Error('down')))).rejects.toThrow('down');
  expect(amounts.of('key:k')).toBe(5n);
  await stored();
  expect(amounts.isEmpty).toBe(true);
});

it('expects the cost of a request and of the input of a batch, unless costs are not reserved', () => {
  const calls = { m: { requests: 1, tokens: 20 }, n: { requests: 2, tokens: 3 } };
  const request = aModelRequest();
  const { openCosts } = aSetup();
  expect([openCosts.ofRequest('d', request), openCosts.ofBatch('d', calls)]).toEqual([7n, 23n]);
  expect([openCosts.ofRequest('gone', request), openCosts.ofBatch('d', undefined)]).toEqual([0n, 0n]);
  const { openCosts: none } = aSetup({ reservesCosts: false });
  expect([none.ofRequest('d', request), none.ofBatch('d', calls)]).toEqual([0n, 0n]);
});
