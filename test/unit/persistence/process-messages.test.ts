import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProcessMessages } from '../../../src/persistence/database/process-messages.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Listens on connections of which the first never answers. */
function listening() {
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
  const listener = messages?.listen({ message() {}, joined });
  const state = () => [connections, released, joined.mock.calls.length, warnings.length];
  return { stop: async () => listener?.stop(), state };
}

it('a connection that never answers is replaced', async () => {
  const { stop, state } = listening();
  await vi.advanceTimersByTimeAsync(6_000);
  expect(state()).toEqual([2, [true], 1, 1]);
  await stop();
  expect(state()).toEqual([2, [true, true], 1, 1]);
});

it('the end waits 5 seconds at most for a connection that never answers', async () => {
  const { stop, state } = listening();
  await vi.advanceTimersByTimeAsync(1);
  const ended = vi.fn<() => void>();
  void stop().then(ended);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ended).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state()).toEqual([1, [true], 0, 0]);
});
