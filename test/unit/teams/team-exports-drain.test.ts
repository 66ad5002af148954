import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import type { Team } from '../../../src/domain/teams/team.ts';
import { createTeamLogging } from '../../../src/recording/team-logging.ts';
import { aRawSpan } from '../../support/raw-span.ts';
import { readSpans } from '../../support/read-spans.ts';

const aReadSpan = () => readSpans([aRawSpan()], { teamId: null, keyHash: 'k' })[0];

describe('the shutdown of the exports of teams', () => {
  it('waits half of its time for a team whose row cannot be read', async () => {
    vi.useFakeTimers({ now: 1_000_000 });
    try {
      const logging = createTeamLogging({
        teams: { find: () => new Promise(() => {}) },
        secrets: { open: (text) => text },
        shared: null,
        http: { post: async () => await Promise.reject(new Error('Not sent in this test.')) },
        clock: { now: () => new Date(), monotonicMs: () => Date.now() },
        log: { warn() {} },
      });
      logging.record({ spend: { teamId: 't' }, span: { status: 'error' } } as CallRecord);
      let isDrained = false;
      const drained = logging.drain(1_000).then(() => {
        isDrained = true;
        return isDrained;
      });
      await vi.advanceTimersByTimeAsync(499);
      expect(isDrained).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(await drained).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('waits for a read that began before an eviction', async () => {
    const events: string[] = [];
    const row = Promise.withResolvers<null>();
    const logging = createTeamLogging({
      teams: { find: () => row.promise },
      secrets: { open: (text) => text },
      shared: {
        push: () => void events.push('span'),
        counts: () => ({ sent: 0, dropped: 0, failed: 0, waiting: 0 }),
        drain: async () => void events.push('drain'),
      },
      http: { post: async () => await Promise.reject(new Error('Not sent in this test.')) },
      clock: { now: () => new Date(), monotonicMs: () => performance.now() },
      log: { warn() {} },
    });
    logging.record({ spend: { teamId: 't' }, span: aReadSpan() } as unknown as CallRecord);
    logging.evict('t');
    const drained = logging.drain(1_000);
    row.resolve(null);
    await drained;
    expect(events).toEqual(['span', 'drain']);
  });

  it('sends the queues of destinations that are closed already', async () => {
    const accepted = new Set<string>();
    const logging = createTeamLogging({
      teams: {
        find: async (id) => {
          const vars = { langsmith_api_key: 'k', langsmith_base_url: `http://${id}.test` };
          const callback = { callback_name: 'langsmith', callback_type: 'success_and_failure', callback_vars: vars };
          return { metadata: { logging: [callback] } } as unknown as Team;
        },
      },
      secrets: { open: (text) => text },
      shared: null,
      http: {
        post: async (url) => {
          if (url.startsWith('http://t0.')) await setTimeout(300);
          accepted.add(url);
          return { status: 200, headers: {}, body: streamOfBytes(new Uint8Array(0)) };
        },
      },
      clock: { now: () => new Date(), monotonicMs: () => performance.now() },
      log: { warn() {} },
    });
    // Open destinations are limited to 64, so the first team's, which is the slow one, is closed.
    for (let team = 0; team < 65; team += 1)
      logging.record({ spend: { teamId: `t${team}` }, span: aReadSpan() } as unknown as CallRecord);
    await logging.drain(1_000);
    expect(accepted.size).toBe(65);
  });
});
