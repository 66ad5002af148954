import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChangedRows, EVERYTHING, keyChangeId, keyHashesOf } from '../../../src/domain/cache-changes.ts';
import type { ProcessMessages } from '../../../src/domain/process-messages.ts';
import { createCacheChanges } from '../../../src/runtime/cache-changes.ts';

type Listener = Parameters<ProcessMessages['listen']>[0];

/** Message channel between the processes of a test. `state.isUnavailable` makes `send` fail. */
function aChannel() {
  const listeners = new Set<Listener>();
  const sent: string[] = [];
  const state = { isUnavailable: false };
  const messages: ProcessMessages = {
    mostBytes: 7_500,
    async send(text) {
      if (state.isUnavailable) throw new Error('the database is unavailable');
      sent.push(text);
      for (const { message } of listeners) message(text);
    },
    listen(listener) {
      listeners.add(listener);
      return {
        async stop() {
          listeners.delete(listener);
        },
      };
    },
  };
  return { messages, sent, state, listeners };
}

function aProcess(messages: ProcessMessages) {
  const evicted: ChangedRows[] = [];
  const changes = createCacheChanges(messages);
  changes.start((changed) => evicted.push(changed));
  return { changes, evicted };
}

describe('the announcement of cache changes', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('evicts announced ids in every other process, and none in the announcing one', async () => {
    const { messages } = aChannel();
    const [sender, receiver] = [aProcess(messages), aProcess(messages)];
    sender.changes.announce('key', ['a', 'b']);
    sender.changes.announce('models', null);
    sender.changes.announce('userId', []);
    await vi.advanceTimersByTimeAsync(10);
    expect(sender.evicted).toEqual([]);
    expect(receiver.evicted).toEqual([
      new Map<string, unknown>([
        ['key', new Set(['a', 'b'])],
        ['models', null],
      ]),
    ]);
  });

  it('sends at most 20 messages a second, and loses no change', async () => {
    const { messages, sent } = aChannel();
    const [sender, receiver] = [aProcess(messages), aProcess(messages)];
    for (let index = 0; index < 90; index++) {
      sender.changes.announce('teamId', [`t${index}`]);
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.length).toBeGreaterThan(10);
    expect(sent.length).toBeLessThanOrEqual(20);
    const ids = receiver.evicted.flatMap((changed) => [...(changed.get('teamId') ?? [])]);
    expect(ids).toEqual(Array.from({ length: 90 }, (_, index) => `t${index}`));
  });

  it('names a whole kind in place of more than 100 ids, and where the message is too long', async () => {
    const { messages, sent } = aChannel();
    const [sender, receiver] = [aProcess(messages), aProcess(messages)];
    sender.changes.announce(
      'key',
      Array.from({ length: 101 }, (_, index) => String(index)),
    );
    sender.changes.announce('teamId', ['t']);
    sender.changes.announce(
      'userId',
      Array.from({ length: 40 }, (_, index) => `${index}${'\u{1f600}'.repeat(100)}`),
    );
    await vi.advanceTimersByTimeAsync(10);
    expect(Buffer.byteLength(sent[0] ?? '')).toBeLessThan(7_500);
    expect(receiver.evicted).toEqual([
      new Map<string, unknown>([
        ['key', null],
        ['userId', null],
        ['teamId', new Set(['t'])],
      ]),
    ]);
  });

  it('is repeated after a failure, together with later changes', async () => {
    const { messages, sent, state } = aChannel();
    const [sender, receiver] = [aProcess(messages), aProcess(messages)];
    state.isUnavailable = true;
    sender.changes.announce('key', ['a']);
    await vi.advanceTimersByTimeAsync(20);
    sender.changes.announce('key', ['b']);
    state.isUnavailable = false;
    await vi.advanceTimersByTimeAsync(1_100);
    expect(sent).toHaveLength(1);
    expect(receiver.evicted).toEqual([new Map([['key', new Set(['a', 'b'])]])]);
  });

  it('evicts everything when listening begins, because earlier messages may be lost', async () => {
    const { messages, listeners } = aChannel();
    const { evicted } = aProcess(messages);
    for (const { joined } of listeners) joined();
    await vi.advanceTimersByTimeAsync(10);
    expect(evicted).toEqual([EVERYTHING]);
  });

  it('ignores messages in other formats, unknown kinds, and ids that are not strings', async () => {
    const { messages, listeners } = aChannel();
    const { evicted } = aProcess(messages);
    const texts = ['', 'null', '[]', '{"origin":"x"}', '{"origin":"x","changed":{"later":null,"key":["a",1]}}'];
    for (const { message } of listeners) for (const text of texts) message(text);
    await vi.advanceTimersByTimeAsync(10);
    expect(evicted).toEqual([new Map([['key', new Set(['a'])]])]);
  });

  it('is sent for pending changes at a stop, and not for later ones', async () => {
    const { messages, sent } = aChannel();
    const { changes } = aProcess(messages);
    changes.announce('settings', null);
    await changes.stop();
    changes.announce('models', null);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent.map((text) => (JSON.parse(text) as { changed: unknown }).changed)).toEqual([{ settings: null }]);
  });

  it('is disabled where no other process uses the database', async () => {
    const changes = createCacheChanges(null);
    changes.start(() => expect.unreachable());
    changes.announce('key', null);
    expect(await changes.stop()).toBeUndefined();
  });

  it('contains all hashes of a key in one id', () => {
    const before = { hash: 'a', secretHash: 'a', previousSecret: null };
    const rotated = { hash: 'a', secretHash: 'b', previousSecret: null };
    const inGrace = { hash: 'a', secretHash: 'c', previousSecret: { hash: 'b' } };
    const keyStates = [before, rotated, inGrace];
    expect(keyStates.map(keyChangeId)).toEqual(['a', 'a.b', 'a.c.b']);
    expect(keyStates.map((key) => keyHashesOf(keyChangeId(key)))).toEqual(keyStates);
  });
});
