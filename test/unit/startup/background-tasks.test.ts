import { describe, expect, it } from 'vitest';
import type { Platform } from '../../../resolvers/operation/scope.ts';
import { createBackgroundTasks } from '../../../src/background-tasks.ts';
import type { PeriodicTask } from '../../../src/domain/scheduler.ts';
import { createLog } from '../../../src/runtime/telemetry/log.ts';
import { settingsFrom } from '../../support/read-settings.ts';

/** Tasks that a process with these settings schedules. No task runs. */
function scheduledTasks(
  signalSeconds: number,
  general: Readonly<Record<string, unknown>>,
  alone = true,
): readonly PeriodicTask[] {
  const scheduled: PeriodicTask[] = [];
  const scheduler = {
    every(task: PeriodicTask) {
      scheduled.push(task);
      return { stop: async () => {} };
    },
    failures: () => new Map<string, number>(),
    stop: async () => {},
  };
  const settings = settingsFrom({
    yaml: JSON.stringify({
      general_settings: { ...general, lens: { worker_slots: 0, signal_seconds: signalSeconds } },
    }),
  });
  const platform = { payments: { configured: false } } as unknown as Platform;
  const authorship = { by: <Result>(_author: unknown, work: () => Result) => work() };
  createBackgroundTasks({ settings, scheduler, log: createLog('error') }, platform, {
    alone,
    authorship,
  }).start();
  return scheduled;
}

const namesOf = (tasks: readonly PeriodicTask[]): readonly string[] => tasks.map(({ name }) => name);

describe('background tasks', () => {
  it('reload settings and models less often where no other process can change them', () => {
    const secondsOf = (alone: boolean): Readonly<Record<string, number>> =>
      Object.fromEntries(
        scheduledTasks(0, {}, alone).flatMap(({ name, everyMs }) =>
          typeof everyMs === 'number' ? [[name, everyMs / 1_000] as const] : [],
        ),
      );
    expect(secondsOf(true)).toEqual({
      'key-refresh': 1.5,
      'model-refresh': 30,
      'fallback-refresh': 30,
      'pass-through-refresh': 30,
      'a2a-agent-refresh': 30,
      'guardrail-refresh': 30,
      'vector-store-refresh': 30,
      'vector-store-index-refresh': 30,
      'search-tool-refresh': 30,
      'policy-refresh': 30,
      'tool-policy-refresh': 30,
      'prompt-refresh': 30,
      'mcp-server-refresh': 30,
      'settings-refresh': 30,
      'open-costs': 2,
      'decision-outcomes': 10,
    });
    expect(secondsOf(false)).toEqual({
      'key-refresh': 1.5,
      'model-refresh': 2,
      'fallback-refresh': 2,
      'pass-through-refresh': 2,
      'a2a-agent-refresh': 2,
      'guardrail-refresh': 2,
      'vector-store-refresh': 2,
      'vector-store-index-refresh': 2,
      'search-tool-refresh': 2,
      'policy-refresh': 2,
      'tool-policy-refresh': 2,
      'prompt-refresh': 2,
      'mcp-server-refresh': 2,
      'settings-refresh': 3,
      'open-costs': 2,
      'decision-outcomes': 10,
    });
  });

  it('that settings disable are not scheduled', () => {
    const enabledTasks = namesOf(
      scheduledTasks(60, {
        background_health_checks: true,
        health_check_interval: 60,
        proxy_batch_polling_interval: 60,
        response_retention_days: 1,
      }),
    );
    const remainingTasks = namesOf(
      scheduledTasks(0, {
        background_health_checks: false,
        proxy_batch_polling_interval: 0,
        response_retention_days: 0,
      }),
    );
    expect(enabledTasks.filter((name) => !remainingTasks.includes(name))).toEqual([
      'lens-signals',
      'health-check',
      'batch-polling',
      'response-retention',
    ]);
    expect(remainingTasks).toEqual([
      'key-refresh',
      'model-refresh',
      'fallback-refresh',
      'pass-through-refresh',
      'a2a-agent-refresh',
      'guardrail-refresh',
      'vector-store-refresh',
      'vector-store-index-refresh',
      'search-tool-refresh',
      'policy-refresh',
      'tool-policy-refresh',
      'prompt-refresh',
      'mcp-server-refresh',
      'settings-refresh',
      'open-costs',
      'decision-outcomes',
      'budget-windows',
      'owner-windows',
      'trace-retention',
      'decision-retention',
      'health-check-retention',
      'spend-retention',
      'lens-retention',
    ]);
  });
});
