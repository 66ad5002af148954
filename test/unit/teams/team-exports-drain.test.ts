import { describe, expect, it, vi } from 'vitest';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import { createTeamLogging } from '../../../src/recording/team-logging.ts';

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
      const drained = logging.drain(1_000).then(() => (isDrained = true));
      await vi.advanceTimersByTimeAsync(499);
      expect(isDrained).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(await drained).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});
