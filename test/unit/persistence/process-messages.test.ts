import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProcessMessages } from '../../../src/persistence/database/process-messages.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a connection that never answers is replaced, and does not delay the end', async () => {
  const warnings: string[] = [];
  const released: boolean[] = [];
  let connections = 0;
  const pool = {
    connect() {
      connections += 1;
      const answer = connections === 1 ? Promise.withResolvers<void>().promise : Promise.resolve();
      return Promise.resolve({
        on() {},
        query: () => answer,
        release: (destroy: boolean) => void released.push(destroy),
      });
    },
  };
  const database = {
    orm: { driver: { getConnection: () => ({ getNativeClient: () => pool }) } },
    flavour: 'postgresql',
  };
  const log = { warn: (_facts: object, event: string) => void warnings.push(event) };
  const messages = createProcessMessages(database as unknown as Parameters<typeof createProcessMessages>[0], log);
  const joined = vi.fn<() => void>();
  const listening = messages?.listen({ message() {}, joined });
  await vi.advanceTimersByTimeAsync(6_000);
  expect([connections, released, joined.mock.calls.length, warnings.length]).toEqual([2, [true], 1, 1]);
  await listening?.stop();
  expect(released).toEqual([true, true]);
});
