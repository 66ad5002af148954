import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { StoredResponse, SealedResponse } from '../../../src/domain/responses/stored-response.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createResponseQueue } from '../../../src/runtime/responses/response-queue.ts';

/** Limits in bytes, and in turns of one conversation. */
const LIMITS = { response: 1_000, conversation: 2_000, turns: 4, waiting: 3_000 } as const;

const aResponse = (id: string, overrides: Partial<StoredResponse> = {}): StoredResponse => ({
  id,
  previousId: null,
  owner: { teamId: 't', keyHash: 'k' },
  createdAt: new Date('2026-11-21T00:00:00Z'),
  input: [{ id: 'msg_1', type: 'message', role: 'user', content: 'a secret plan' }],
  response: { id, output: [] },
  ...overrides,
});
const ofSize = (id: string, characters: number): StoredResponse =>
  aResponse(id, { response: { x: 'x'.repeat(characters) } });

/** A store whose commits wait until the test ends them, one by one, with or without an error. */
function aStore() {
  const rows = new Map<string, SealedResponse>();
  const commits: { readonly ids: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  let onCommit = (): void => {};
  return {
    rows,
    /** Resolves to the current commit when one has begun. */
    async commit() {
      while (commits.length === 0)
        await new Promise<void>((resolve) => {
          onCommit = resolve;
        });
      const [currentCommit] = commits.splice(0, 1);
      if (currentCommit === undefined) throw new Error('No commit is under way.');
      return currentCommit;
    },
    async add(added: readonly SealedResponse[]) {
      await new Promise<void>((resolve, reject) => {
        commits.push({
          ids: added.map(({ id }) => id),
          end: (error) => (error === undefined ? resolve() : reject(error)),
        });
        onCommit();
      });
      for (const row of added) rows.set(row.id, row);
    },
    find: async (ids: readonly string[]) => ids.flatMap((id) => rows.get(id) ?? []),
    async chain(id: string, maxTurns: number) {
      const found: SealedResponse[] = [];
      for (let row = rows.get(id); row && found.length < maxTurns; row = rows.get(row.previousId ?? ''))
        found.push(row);
      return found;
    },
    async remove(id: string) {
      rows.delete(id);
    },
  };
}

function aQueue(store = aStore(), masterKey = 'sk-admin') {
  const logLines: string[] = [];
  const log = { error: (_facts: object, event: string) => void logLines.push(event) };
  const queue = createResponseQueue({ store, masterKey: new Secret(masterKey), storesNew: true, log, limits: LIMITS });
  return { store, queue, logLines };
}

describe('the queue of responses', () => {
  it('returns a response before it is stored and after, and stores it encrypted', async () => {
    const { store, queue } = aQueue();
    expect(queue.enqueue(aResponse('resp_1'))).toBe(true);
    expect(await queue.find('resp_1')).toEqual(aResponse('resp_1'));
    const flushed = queue.flush();
    (await store.commit()).end();
    await flushed;
    expect(await queue.find('resp_1')).toEqual(aResponse('resp_1'));
    expect(Buffer.from(store.rows.get('resp_1')?.sealed ?? []).includes('secret')).toBe(false);
    expect(await queue.find('resp_2')).toBeNull();
  });

  it('keeps a response in memory while the store is unavailable, and stores it afterwards', async () => {
    const { store, queue, logLines } = aQueue();
    queue.enqueue(aResponse('resp_1'));
    const failing = queue.flush();
    (await store.commit()).end(new Unavailable('away'));
    await expect(failing).rejects.toThrow('away');
    expect(await queue.find('resp_1')).toEqual(aResponse('resp_1'));
    const flushed = queue.flush();
    const commit = await store.commit();
    expect(commit.ids).toEqual(['resp_1']);
    commit.end();
    await flushed;
    expect([[...store.rows.keys()], logLines]).toEqual([['resp_1'], []]);
  });

  it('drops a response that the store refuses, and keeps the others', async () => {
    const { store, queue, logLines } = aQueue();
    for (const id of ['resp_1', 'resp_2']) queue.enqueue(aResponse(id));
    const flushed = queue.flush();
    const refused = new Error('malformed');
    // The commit of two responses fails, then the commit of the first alone. The commit of the second succeeds.
    (await store.commit()).end(refused);
    (await store.commit()).end(refused);
    (await store.commit()).end();
    await flushed;
    expect([await queue.find('resp_1'), (await queue.find('resp_2'))?.id]).toEqual([null, 'resp_2']);
    expect(logLines).toEqual(['a response was dropped: the store refused it']);
  });

  it('refuses a response that is too large, and responses above the limit of waiting bytes', async () => {
    const { store, queue } = aQueue();
    expect([queue.mayStore(1_000), queue.mayStore(1_001)]).toEqual([true, false]);
    expect(queue.enqueue(ofSize('resp_large', 1_000))).toBe(false);
    const results = [1, 2, 3, 4].map((number) => queue.enqueue(ofSize(`resp_${number}`, 700)));
    expect(results).toEqual([true, true, true, false]);
    expect(queue.mayStore(1_000)).toBe(false);
    const flushed = queue.flush();
    (await store.commit()).end();
    await flushed;
    expect([queue.mayStore(1_000), queue.enqueue(ofSize('resp_4', 700))]).toEqual([true, true]);
  });

  it('removes a response permanently: stored, waiting, and during its commit', async () => {
    const { store, queue } = aQueue();
    for (const id of ['resp_1', 'resp_2']) queue.enqueue(aResponse(id));
    await queue.remove('resp_1');
    const flushed = queue.flush();
    const commit = await store.commit();
    expect(commit.ids).toEqual(['resp_2']);
    await queue.remove('resp_2');
    expect([await queue.find('resp_1'), await queue.find('resp_2')]).toEqual([null, null]);
    commit.end();
    await flushed;
    expect(store.rows.size).toBe(0);
    queue.enqueue(aResponse('resp_3'));
    const secondFlush = queue.flush();
    (await store.commit()).end();
    await secondFlush;
    await queue.remove('resp_3');
    expect(store.rows.size).toBe(0);
  });

  it('cannot decrypt responses with another admin key, or a response whose owner was changed', async () => {
    const { store, queue } = aQueue();
    queue.enqueue(aResponse('resp_1'));
    const flushed = queue.flush();
    (await store.commit()).end();
    await flushed;
    expect(await aQueue(store, 'sk-other').queue.find('resp_1')).toBeNull();
    const row = store.rows.get('resp_1');
    if (row === undefined) throw new Error('Not stored.');
    store.rows.set('resp_1', { ...row, owner: { teamId: 'thief', keyHash: 'k' } });
    expect(await queue.find('resp_1')).toBeNull();
  });

  it('joins a conversation that is partly stored and partly waiting', async () => {
    const { store, queue } = aQueue();
    const turns = [1, 2, 3, 4, 5].map((turn) =>
      aResponse(`resp_${turn}`, { previousId: turn === 1 ? null : `resp_${turn - 1}` }),
    );
    for (const turn of turns.slice(0, 2)) queue.enqueue(turn);
    const flushed = queue.flush();
    (await store.commit()).end();
    await flushed;
    for (const turn of turns.slice(2)) queue.enqueue(turn);
    const [, , , fourth = aResponse(''), fifth = aResponse('')] = turns;
    expect(await queue.conversation(fourth)).toEqual({ kind: 'whole', turns: turns.slice(0, 4) });
    expect(await queue.conversation(fifth)).toEqual({ kind: 'too long' });
    await queue.remove('resp_1');
    expect(await queue.conversation(fourth)).toEqual({ kind: 'broken' });
    await queue.remove('resp_3');
    expect(await queue.conversation(fourth)).toEqual({ kind: 'broken' });
  });

  it('joins no conversation and returns no list above the limit of bytes', async () => {
    const { queue } = aQueue();
    const turns = [1, 2, 3].map((turn) => ({
      ...ofSize(`resp_${turn}`, 600),
      previousId: turn === 1 ? null : `resp_${turn - 1}`,
    }));
    for (const turn of turns) expect(queue.enqueue(turn)).toBe(true);
    expect(await queue.conversation(turns[2] ?? aResponse(''))).toEqual({ kind: 'too long' });
    expect(await queue.findAll(turns.map(({ id }) => id))).toBeNull();
    expect(await queue.findAll(['resp_1', 'resp_2', 'resp_none'])).toHaveLength(2);
  });
});
