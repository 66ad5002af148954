import { describe, expect, it, vi } from 'vitest';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import type { Team } from '../../../src/domain/teams/team.ts';
import { createTeamLogging } from '../../../src/recording/team-logging.ts';

const CALLBACK = {
  callback_name: 'langsmith',
  callback_type: 'success',
  callback_vars: { langsmith_api_key: 'k', langsmith_base_url: 'http://collector.test' },
};

/** Exports of a team with this metadata, and a clock that the test sets. */
function exportsOf(metadata: object) {
  const find = vi.fn<(id: string) => Promise<Team | null>>(async () => ({ metadata }) as Team);
  const clock = { ms: 1_000_000 };
  const logging = createTeamLogging({
    teams: { find },
    secrets: { open: (text) => text },
    shared: null,
    http: { post: async () => await Promise.reject(new Error('Not sent in this test.')) },
    clock: { now: () => new Date(clock.ms), monotonicMs: () => clock.ms },
    log: { warn() {} },
  });
  /** Records a call, and waits for the read of its team. */
  async function record(): Promise<void> {
    logging.record({ spend: { teamId: 't' }, span: { status: 'error' } } as CallRecord);
    await vi.waitFor(() => expect(find.mock.results.every(({ value }) => value !== undefined)).toBe(true));
    await Promise.all(find.mock.results.map(({ value }) => value as Promise<unknown>));
    await Promise.resolve();
  }
  return { find, clock, logging, record };
}

describe('the row of a team whose calls are recorded', () => {
  it('is read at most once a minute if the team has no callbacks and the operator no collector, and again after an eviction', async () => {
    const { find, clock, logging, record } = exportsOf({});
    await record();
    clock.ms += 59_000;
    await record();
    expect(find).toHaveBeenCalledTimes(1);
    clock.ms += 1_000;
    await record();
    expect(find).toHaveBeenCalledTimes(2);
    logging.evict('t');
    await record();
    logging.evictAll();
    await record();
    expect(find).toHaveBeenCalledTimes(4);
  });

  it('is read at most every four seconds if the team has callbacks', async () => {
    const { find, clock, record } = exportsOf({ logging: [CALLBACK] });
    await record();
    clock.ms += 3_900;
    await record();
    expect(find).toHaveBeenCalledTimes(1);
    clock.ms += 100;
    await record();
    expect(find).toHaveBeenCalledTimes(2);
  });
});
