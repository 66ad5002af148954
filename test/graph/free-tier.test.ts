import { afterEach, describe, expect, it } from 'vitest';
import { aFreeTier } from '../support/free-tier.ts';
import { CatalogEntryDocument, FreeTierUsageDocument, TwoReadsDocument } from './generated/graphql.ts';
import { anEntry, eventually, openGraph } from './graph-server.ts';

/** 90 seconds before midnight UTC. */
const CLOCK = { now: () => new Date('2026-11-21T23:58:30.000Z'), monotonicMs: () => 0 };
/** HMAC-SHA256 of the address of the test client with a key derived from the tests' admin key. */
const ADDRESS_HASH = 'b89abc538cbc943bc9140f3f3b384d8e71e4a27d31a5a2c43355795b3b11829d';
const READS = {
  data: { catalogEntry: { entryId: 'gpt-4o' }, catalogEntries: { totalCount: 1 }, again: { entryId: 'gpt-4o' } },
};

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

async function open(limit: number): Promise<void> {
  const freeTier = aFreeTier({ limit, clock: CLOCK });
  graph = await openGraph({ entries: [anEntry('gpt-4o')], platform: { freeTier } });
}

const callsToday = async () => (await graph.call(FreeTierUsageDocument, {}, null)).data.freeTierUsage?.requestsToday;

describe('freeTierUsage', () => {
  it('shows the usage of the address, and is not counted itself', async () => {
    await open(5);
    await graph.call(CatalogEntryDocument, { id: 'gpt-4o' }, null);
    expect(await graph.call(FreeTierUsageDocument, {}, null)).toEqual({
      data: {
        freeTierUsage: {
          ipHash: ADDRESS_HASH,
          requestsToday: 1,
          dailyLimit: 5,
          remaining: 4,
        },
      },
    });
    expect(await callsToday()).toBe(1);
  });
});

describe('a request that reads the catalog', () => {
  it('is counted once for any number of reads', async () => {
    await open(5);
    expect(await graph.call(TwoReadsDocument, {}, null)).toEqual(READS);
    expect(await callsToday()).toBe(1);
  });

  it('is not counted when it has a key', async () => {
    await open(1);
    for (let call = 0; call < 3; call += 1) expect(await graph.call(TwoReadsDocument, {}, 'sk-team-a')).toEqual(READS);
    expect(await callsToday()).toBe(0);
  });

  it('is counted once on /graphql/stream', async () => {
    await open(5);
    const answer = await fetch(`${graph.url}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: TwoReadsDocument.toString() }),
    });
    expect(await answer.text()).toContain('"totalCount":1');
    expect(await callsToday()).toBe(1);
  });

  it('is counted once when it is a subscription with any number of events', async () => {
    await open(5);
    const leaving = new AbortController();
    const answer = await fetch(graph.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { catalogChangeUpdates { droppedUpdates changes { entryId } } }' }),
      signal: leaving.signal,
    });
    await eventually(() => graph.bus.subscriberCount() === 1, 'a subscription');
    const changedAt = new Date(0);
    const fields = { entryId: 'gpt-4o', provider: null, op: 'added', field: null, old: null, new: null } as const;
    const change = { at: changedAt, notBefore: null, ...fields };
    const update = { at: changedAt, snapshotId: 'next', changes: [{ ...change, snapshotId: 'next' }] };
    graph.bus.publish('catalogChange', update);
    graph.bus.publish('catalogChange', update);
    let events = 0;
    for await (const chunk of answer.body ?? []) {
      events += Buffer.from(chunk).toString().split('"entryId":"gpt-4o"').length - 1;
      if (events === 2) break;
    }
    leaving.abort();
    expect([events, await callsToday()]).toEqual([2, 1]);
  });

  it('gets an error with the seconds until the next day when the free calls are used up', async () => {
    await open(1);
    await graph.call(TwoReadsDocument, {}, null);
    const { data, errors } = await graph.call(CatalogEntryDocument, { id: 'gpt-4o' }, null);
    expect([data, errors?.map(({ message, extensions }) => ({ message, extensions }))]).toEqual([
      { catalogEntry: null },
      [
        {
          message:
            'The free tier of 1 request a day is used up for your address. It resets at 00:00 UTC. ' +
            'Send a key as `Authorization: Bearer <key>` or `x-api-key`; POST /billing/checkout sells one.',
          extensions: { code: 'LIMIT_EXCEEDED', limit: 'free_tier', dailyLimit: 1, retryAfterSeconds: 90 },
        },
      ],
    ]);
    expect((await graph.call(TwoReadsDocument, {}, null)).errors?.length).toBeGreaterThan(0);
    expect(await callsToday()).toBe(1);
    // Refusals are logged at debug level only, so that clients cannot fill the log.
    expect(new Set(graph.lines.map(({ level }) => level))).toEqual(new Set(['debug']));
  });
});
