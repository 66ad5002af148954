import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/runtime/telemetry/metrics.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

it('failed runs of periodic tasks are counted by task', async () => {
  const failures = new Map([
    ['key-refresh', 2],
    ['health-check', 1],
  ]);
  const counts = { sent: 0, dropped: 0, failed: 0, waiting: 0 };
  const metrics = createMetrics({
    catalog: {
      status: () => ({
        source: 'embedded',
        takenAt: new Date(0),
        count: 0,
        lastCheckedAt: null,
        lastError: null,
        quarantined: 0,
        checks: { taken: 0, unchanged: 0, refused: 0, failed: 0 },
      }),
    },
    spanExport: null,
    teamExports: () => counts,
    calls: { waiting: () => 0, backlog: () => 0 },
    connections: () => ({ open: 0, refused: { total: 0, network: 0 } }),
    upstreams: () => ({ waiting: 0, limit: 0, active: 0, idle: 0 }),
    failedWrites: () => 0,
    failedTasks: () => failures,
    unpricedCalls: () => new Map(),
    reservations: () => ({ open: 0, expired: 0 }),
    shares: null,
    clock: systemClock,
    modelCalls: null,
  });
  const series = async (): Promise<readonly string[]> =>
    (await metrics.read()).text.split('\n').filter((line) => line.startsWith('lensgate_task_failures_total'));
  // A second read does not count the failures again.
  await series();
  expect(await series()).toEqual([
    'lensgate_task_failures_total{task="key-refresh"} 2',
    'lensgate_task_failures_total{task="health-check"} 1',
  ]);
});
