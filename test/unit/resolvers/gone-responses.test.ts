import { expect, it } from 'vitest';
import { closeDeleted } from '../../../resolvers/operation/background-responses.ts';
import { currentState } from '../../../resolvers/operation/object-states.ts';
import type { ResponsePlatform } from '../../../resolvers/operation/platform.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { NotFound, UpstreamFailed } from '../../../src/domain/errors.ts';
import { MAX_AWAITED_MS, MISSING_WAIT_MS } from '../../../src/domain/upstream-objects/missing-object.ts';
import { GET_BATCH, GET_RESPONSE } from '../../../src/domain/upstream-objects/object-action.ts';
import { withPendingUsage, withoutPendingUsage } from '../../../src/domain/upstream-objects/pending-usage.ts';
import type { UpstreamObject } from '../../../src/domain/upstream-objects/upstream-object.ts';
import { aCaller, aDeployment } from '../../support/chat.ts';
import { NO_OPEN_COSTS } from '../../support/no-open-costs.ts';

const DEPLOYMENT = aDeployment();
const SHOWN = { id: 'resp_up', object: 'response', status: 'queued' };
const EXPIRED = { ...SHOWN, status: 'expired' };
const MINUTE_MS = 60_000;
const GONE = new UpstreamFailed('gone', { provider: 'openai', upstreamStatus: 404 });
const DOWN = new UpstreamFailed('down', { provider: 'openai', upstreamStatus: 503 });

const rowWith = (shown: UpstreamObject['shown'], kind: UpstreamObject['kind'] = 'response'): UpstreamObject => ({
  id: 'resp_1',
  kind,
  deploymentId: DEPLOYMENT.id,
  upstreamId: 'resp_up',
  owner: { teamId: null, keyHash: 'k' },
  createdAt: new Date(0),
  purpose: null,
  shown,
});

/** A platform with one row, and a clock that the test sets. Each read of the upstream fails. */
function aPlatform(row: UpstreamObject, failure: Error = GONE) {
  const clock = { ms: 1_000, isConfigured: true };
  const events: string[] = [];
  let current = row;
  const platform = {
    stores: {
      upstreamObjects: {
        findAtUpstream: () => Promise.resolve([current]),
        async saveState(_id: string, shown: NonNullable<UpstreamObject['shown']>) {
          current = { ...current, shown };
          events.push(`saved ${String(shown['status'])}`);
        },
      },
    },
    objectQueue: { caughtUp: () => Promise.resolve() },
    gateway: {
      openCosts: { ...NO_OPEN_COSTS, release: () => void events.push('released') },
      deployment: () => (clock.isConfigured ? DEPLOYMENT : null),
      recordUncharged: ({ reason, deployment }: { reason: string; deployment: unknown }) =>
        void events.push(`uncharged: ${reason}${deployment === null ? ', no deployment' : ''}`),
      pass() {
        events.push('read');
        return Promise.reject(failure);
      },
    },
    records: { spendStored: () => Promise.resolve(true) },
    clock: { now: () => new Date(clock.ms) },
  };
  const scope = { platform, caller: aCaller(), signal: new AbortController().signal };
  return {
    events,
    scope: scope as unknown as Scope<ResponsePlatform>,
    shown: () => current.shown,
    /** Reads the row at a time. Returns what the read did. */
    async readAt(ms: number, action = GET_RESPONSE): Promise<readonly string[]> {
      clock.ms = ms;
      events.length = 0;
      await currentState(scope as never, current, action);
      return [...events];
    },
    clock,
  };
}

it.each([
  ['queued', SHOWN],
  ['completed, with a pending usage', withPendingUsage({ ...SHOWN, status: 'completed' }, 1_000)],
])('a background response that its upstream no longer has is read again for a day: %s', async (_name, shown) => {
  const { readAt, shown: current } = aPlatform(rowWith(shown));
  const status = String(shown['status']);
  expect(await readAt(0)).toEqual(['read', `saved ${status}`]);
  expect(withoutPendingUsage(current() ?? {})).toEqual({ ...SHOWN, status });
  expect(await readAt(MINUTE_MS)).toEqual(['read', `saved ${status}`]);
  // The time since the first 404 doubles from read to read.
  expect(await readAt(1.5 * MINUTE_MS)).toEqual([]);
  expect(await readAt(2 * MINUTE_MS)).toEqual(['read', `saved ${status}`]);
  const end = ['read', 'uncharged: missing at its upstream', 'saved expired', 'released'];
  expect(await readAt(MISSING_WAIT_MS)).toEqual(end);
  expect(current()).toEqual(EXPIRED);
  expect(await readAt(2 * MISSING_WAIT_MS)).toEqual([]);
});

it('a batch that its upstream no longer has is read again for a day, too', async () => {
  const { readAt } = aPlatform(rowWith({ id: 'batch_up', object: 'batch', status: 'in_progress' }, 'batch'));
  expect(await readAt(0, GET_BATCH)).toEqual(['read', 'saved in_progress']);
  const end = ['read', 'uncharged: missing at its upstream', 'saved expired', 'released'];
  expect(await readAt(MISSING_WAIT_MS, GET_BATCH)).toEqual(end);
});

it.each([
  ['fails', DOWN],
  ['is not reachable', new NotFound('response', 'resp_1', 'none')],
])('a response whose upstream %s is read again for 30 days', async (_name, failure) => {
  const { readAt, shown } = aPlatform(rowWith(SHOWN), failure);
  for (const days of [1, 4, 29]) expect(await readAt(days * 86_400_000)).toEqual(['read']);
  expect(shown()).toEqual(SHOWN);
  const end = ['read', 'uncharged: not readable at its upstream', 'saved expired', 'released'];
  expect(await readAt(MAX_AWAITED_MS)).toEqual(end);
});

it('a response whose deployment is no longer configured stays open for 30 days', async () => {
  const { readAt, clock } = aPlatform(rowWith(SHOWN));
  clock.isConfigured = false;
  expect(await readAt(MAX_AWAITED_MS - 1)).toEqual([]);
  const end = ['uncharged: not readable at its upstream, no deployment', 'saved expired', 'released'];
  expect(await readAt(MAX_AWAITED_MS)).toEqual(end);
});

it('a deleted background response gets a final status without a record', async () => {
  const { events, scope, shown } = aPlatform(rowWith(SHOWN));
  await closeDeleted(scope, rowWith(SHOWN));
  expect(events).toEqual(['saved expired', 'released']);
  expect(shown()).toEqual(EXPIRED);
});
