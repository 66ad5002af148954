import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CatalogChanges, Delivery } from '../../../src/domain/bus.ts';
import type { CatalogHistory, ChangeFilters } from '../../../src/domain/catalog/history.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import { openStores } from '../../../src/persistence/database/orm.ts';
import type { Stores } from '../../../src/persistence/stores.ts';
import { putMigratedDatabase } from '../../support/migrated-databases.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { createCatalogRecorder } from '../../../src/runtime/catalog/recorder.ts';
import { snapshotOfRows } from '../../support/catalog-maps.ts';
import { POLLING } from '../../support/polling.ts';
import { aScheduler } from '../../support/scheduler.ts';

const NO_FILTERS: ChangeFilters = {
  entryId: null,
  provider: null,
  field: null,
  kind: null,
  op: null,
  from: null,
  to: null,
};
const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

/** A state of a catalog of 3 entries, taken on day `number`. The price of `a` is this number. */
const stateAt = (number: number) =>
  snapshotOfRows(
    `s${number}`,
    { a: { input_cost_per_token: number }, b: { mode: 'chat' }, [`only${number}`]: { rpm: 1 } },
    day(number),
  );

let dataDir: string;
let stores: Stores;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'lensgate-recorder-'));
  await putMigratedDatabase(dataDir);
  stores = await openStores({ databaseUrl: null, dataDir, log: { warn() {} } });
});
afterEach(async () => {
  await stores.close();
  rmSync(dataDir, { recursive: true });
});

type Recording = Pick<CatalogHistory, 'head' | 'recorded' | 'record' | 'confirm'>;

/**
 * A process with a recorder: its published changes and its log. `freshAt` returns the time of the last successful
 * request to the source.
 */
function aProcess(now: Date, history: Recording = stores.catalogHistory, freshAt = (): Date | null => null) {
  const bus = createBus();
  const feed = bus.subscribe('catalogChange', {});
  const lines: string[] = [];
  const note = (_facts: object, event: string) => void lines.push(event);
  const recorder = createCatalogRecorder({
    history,
    bus,
    clock: { now: () => now, monotonicMs: () => 0 },
    scheduler: aScheduler(),
    log: { debug: note, info: note, warn: note, error: note },
    freshAt,
    confirmMs: 1,
    retryMs: 1,
  });
  return {
    enqueue: recorder.enqueue,
    stop: recorder.stop,
    lines,
    next: async (): Promise<CatalogChanges> => ((await feed.next()).value as Delivery<CatalogChanges>).event,
    /** Published events that are not yet read. Closes the bus. */
    async published(): Promise<readonly CatalogChanges[]> {
      bus.close();
      return (await Array.fromAsync(feed)).map(({ event }) => event);
    },
  };
}

const storedChanges = async (): Promise<readonly string[]> =>
  (await stores.catalogHistory.list(NO_FILTERS, null, 10_000)).map(
    ({ change: { at, entryId, op, old, new: updated } }) =>
      `${at.toISOString().slice(0, 10)} ${entryId} ${op} ${JSON.stringify(old)} ${JSON.stringify(updated)}`,
  );
const STEP_1_TO_2 = [
  '2026-01-12 only1 removed {"rpm":1} null',
  '2026-01-12 only2 added null {"rpm":1}',
  '2026-01-12 a changed 1 2',
];

describe('recording the catalog', () => {
  it('stores the first state without changes', async () => {
    const process = aProcess(day(10));
    process.enqueue(stateAt(1));
    await process.stop();
    expect([await storedChanges(), await process.published()]).toEqual([[], []]);
    expect(await stores.catalogHistory.head()).toEqual({
      snapshotId: 's1',
      takenAt: day(1),
      seenAt: day(10),
      confirmedAt: day(10),
    });
    expect(await stores.catalogHistory.recorded(null, 10)).toHaveLength(3);
  });

  it('stores changes and publishes them, with the time of their detection', async () => {
    const process = aProcess(day(12));
    process.enqueue(stateAt(1));
    process.enqueue(stateAt(2));
    const { snapshotId, changes } = await process.next();
    await process.stop();
    expect([snapshotId, changes.map(({ entryId }) => entryId)]).toEqual(['s2', ['a', 'only2', 'only1']]);
    expect(await storedChanges()).toEqual(STEP_1_TO_2);
    expect(await stores.catalogHistory.recorded(null, 10)).toMatchObject([
      { entryId: 'a', fields: { input_cost_per_token: 2 } },
      { entryId: 'b' },
      { entryId: 'only2' },
    ]);
  });

  it('writes missing changes after a restart, and no change twice', async () => {
    const before = aProcess(day(10));
    before.enqueue(stateAt(1));
    await before.stop();
    // The process ends after the swap and before the write.
    before.enqueue(stateAt(2));
    for (let restart = 0; restart < 3; restart += 1) {
      const after = aProcess(day(12));
      after.enqueue(stateAt(2));
      await after.stop();
    }
    expect(await storedChanges()).toEqual(STEP_1_TO_2);
  });

  it('does not record an older state as a change after a restart', async () => {
    // A restarted process serves the built-in catalog until its first refresh.
    const before = aProcess(day(12));
    before.enqueue(stateAt(1));
    before.enqueue(stateAt(2));
    await before.next();
    await before.stop();
    const after = aProcess(day(13));
    after.enqueue(stateAt(1));
    after.enqueue(stateAt(3));
    const { changes } = await after.next();
    await after.stop();
    expect(changes.map(({ entryId, old, new: updated }) => [entryId, old, updated])).toEqual([
      ['a', 2, 3],
      ['only3', null, { rpm: 1 }],
      ['only2', { rpm: 1 }, null],
    ]);
    // Three changes from state 1 to state 2, and three from state 2 to state 3.
    expect(await storedChanges()).toHaveLength(6);
  });

  it('starts a gap at the last confirmation of the source', async () => {
    const before = aProcess(day(2), stores.catalogHistory, () => day(4));
    before.enqueue(stateAt(1));
    await before.stop();
    expect(await stores.catalogHistory.head()).toMatchObject({ seenAt: day(2), confirmedAt: day(4) });
    // This process has no successful request.
    const withoutRequests = aProcess(day(9), stores.catalogHistory);
    withoutRequests.enqueue(stateAt(1));
    await withoutRequests.stop();
    const after = aProcess(day(12), stores.catalogHistory, () => day(12));
    after.enqueue(stateAt(2));
    await after.stop();
    const tenMinutesLater = aProcess(new Date(day(12).getTime() + 600_000), stores.catalogHistory);
    tenMinutesLater.enqueue(stateAt(3));
    await tenMinutesLater.stop();
    const changes = (await stores.catalogHistory.list(NO_FILTERS, null, 10)).map(({ change }) => change);
    // The newest first: three changes ten minutes after the last request, without a gap, and three after the gap.
    expect(changes.map(({ notBefore }) => notBefore)).toEqual([null, null, null, day(4), day(4), day(4)]);
  });

  it('confirms an unchanged state periodically while it runs', async () => {
    let lastSuccess = day(2);
    const process = aProcess(day(2), stores.catalogHistory, () => lastSuccess);
    process.enqueue(stateAt(1));
    for (const number of [3, 5]) {
      lastSuccess = day(number);
      await vi.waitUntil(
        async () => (await stores.catalogHistory.head())?.confirmedAt.getTime() === lastSuccess.getTime(),
        POLLING,
      );
    }
    await process.stop();
    expect(await stores.catalogHistory.head()).toMatchObject({ snapshotId: 's1', seenAt: day(2), confirmedAt: day(5) });
  });

  it('records a change and its reversal separately, even within one millisecond', async () => {
    const process = aProcess(day(12));
    const reverted = { ...stateAt(1), takenAt: day(3) };
    for (const state of [stateAt(1), stateAt(2), reverted]) process.enqueue(state);
    const [change, reversal] = [await process.next(), await process.next()];
    await process.stop();
    expect([change.snapshotId, reversal.snapshotId, reversal.at.getTime() - change.at.getTime()]).toEqual([
      's2',
      's1',
      1,
    ]);
    expect((await storedChanges()).filter((line) => line.includes(' a '))).toEqual([
      '2026-01-12 a changed 2 1',
      '2026-01-12 a changed 1 2',
    ]);
  });

  it('retries until the store is available, logs the failure once, and loses no change', async () => {
    let failuresLeft = 5;
    const { head, recorded, record, confirm } = stores.catalogHistory;
    const flaky = {
      head,
      recorded,
      confirm,
      async record(step: Parameters<typeof record>[0]) {
        failuresLeft -= 1;
        if (failuresLeft >= 0) throw new Unavailable('The database cannot be used at the moment.');
        return record(step);
      },
    };
    const process = aProcess(day(12), flaky);
    process.enqueue(stateAt(1));
    process.enqueue(stateAt(2));
    await process.next();
    await process.stop();
    expect(await storedChanges()).toEqual(STEP_1_TO_2);
    expect(process.lines.filter((line) => line.includes('retrying'))).toHaveLength(1);
  });

  it('writes nothing twice and publishes all changes when the answer to a commit is lost', async () => {
    const { head, recorded, record, confirm } = stores.catalogHistory;
    let commits = 0;
    const unacknowledged = {
      head,
      recorded,
      confirm,
      async record(step: Parameters<typeof record>[0]) {
        const reached = await record(step);
        commits += 1;
        if (commits === 2) throw new Unavailable('Connection terminated');
        return reached;
      },
    };
    const process = aProcess(day(12), unacknowledged);
    process.enqueue(stateAt(1));
    process.enqueue(stateAt(2));
    const { changes } = await process.next();
    await process.stop();
    expect([changes.length, commits]).toEqual([3, 2]);
    expect(await storedChanges()).toEqual(STEP_1_TO_2);
  });

  it('publishes in every process to its own subscribers, and records once', async () => {
    const [processA, processB] = [aProcess(day(12)), aProcess(day(12))];
    processA.enqueue(stateAt(1));
    processB.enqueue(stateAt(1));
    processA.enqueue(stateAt(2));
    processB.enqueue(stateAt(2));
    const [changesOfA, changesOfB] = [await processA.next(), await processB.next()];
    await Promise.all([processA.stop(), processB.stop()]);
    expect(changesOfB).toEqual(changesOfA);
    expect(await storedChanges()).toEqual(STEP_1_TO_2);
  });

  it('publishes a large step in events of at most a hundred changes', async () => {
    const rows = (price: number) =>
      Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`m${index}`, { input_cost_per_token: price }]));
    const process = aProcess(day(12));
    process.enqueue(snapshotOfRows('earlier', rows(1), day(1)));
    process.enqueue(snapshotOfRows('later', rows(2), day(2)));
    const sizes = [await process.next(), await process.next(), await process.next()].map(
      ({ changes }) => changes.length,
    );
    await process.stop();
    expect([sizes, await process.published()]).toEqual([[100, 100, 50], []]);
  });

  it('merges the oldest of many steps into one while their recording is pending', async () => {
    const gate = Promise.withResolvers<void>();
    const { head, recorded, record, confirm } = stores.catalogHistory;
    const slow = {
      head: () => gate.promise.then(head),
      recorded,
      record,
      confirm,
    };
    const process = aProcess(day(12), slow);
    for (let number = 1; number <= 20; number += 1) process.enqueue(stateAt(number));
    gate.resolve();
    const prices: unknown[] = [];
    while (prices.at(-1) !== 20)
      prices.push((await process.next()).changes.find(({ entryId }) => entryId === 'a')?.new);
    await process.stop();
    // At most eight states wait: the first, which has no changes, and the last seven.
    expect(prices).toEqual([14, 15, 16, 17, 18, 19, 20]);
  });
});
