import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createShutdownStack } from '../../../src/startup/shutdown-stack.ts';

interface LoggedStep {
  readonly step: string;
  readonly message: string;
}

function aStack() {
  const logged: LoggedStep[] = [];
  const stack = createShutdownStack({
    error(facts: { err?: unknown; step?: string }) {
      logged.push({ step: facts.step ?? '', message: facts.err instanceof Error ? facts.err.message : '' });
    },
  });
  return { stack, logged };
}

describe('the shutdown stack', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs steps one by one, the latest first, with the grace period', async () => {
    const { stack, logged } = aStack();
    const steps: string[] = [];
    stack.add('stores', (graceMs) => steps.push(`stores ${graceMs}`));
    stack.add('records', async () => {
      steps.push('records begin');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      steps.push('records end');
    });
    stack.add('server', (graceMs) => steps.push(`server ${graceMs}`));
    const stopped = stack.stop(70);
    await vi.advanceTimersByTimeAsync(1_000);
    await stopped;
    expect(steps).toEqual(['server 70', 'records begin', 'records end', 'stores 70']);
    expect(logged).toEqual([]);
  });

  it('logs a failed step, runs the others and rejects at the end', async () => {
    const { stack, logged } = aStack();
    const steps: string[] = [];
    stack.add('lock', () => steps.push('lock'));
    stack.add('stores', () => Promise.reject(new Error('The disk is full.')));
    stack.add('server', () => {
      throw new Error('It does not listen.');
    });
    await expect(stack.stop(0)).rejects.toThrow('Steps of the shutdown failed: server, stores.');
    expect(steps).toEqual(['lock']);
    expect(logged).toEqual([
      { step: 'server', message: 'It does not listen.' },
      { step: 'stores', message: 'The disk is full.' },
    ]);
  });

  it('continues without a step that exceeds its deadline', async () => {
    const { stack, logged } = aStack();
    const steps: string[] = [];
    stack.add('stores', () => steps.push('stores'));
    stack.add('records', () => new Promise(() => {}));
    stack.add(
      'requests',
      () => new Promise(() => {}),
      (graceMs) => graceMs + 1_000,
    );
    const result = stack.stop(200).catch(String);
    // The requests have 1,200 ms, and the records have the default of 5,000 ms.
    await vi.advanceTimersByTimeAsync(6_199);
    expect(steps).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toBe('Error: Steps of the shutdown failed: requests, records.');
    expect(steps).toEqual(['stores']);
    expect(logged).toEqual([
      { step: 'requests', message: 'Not done within 1200 ms.' },
      { step: 'records', message: 'Not done within 5000 ms.' },
    ]);
  });

  it('does not fail a step because the process was stalled', async () => {
    vi.useRealTimers();
    const { stack, logged } = aStack();
    stack.add(
      'server',
      () => {
        const untilMs = performance.now() + 150;
        while (performance.now() < untilMs);
        return new Promise((resolve) => {
          setImmediate(resolve);
        });
      },
      () => 100,
    );
    await stack.stop(0);
    expect(logged).toEqual([]);
  });

  it('runs each step once for several stops', async () => {
    const { stack } = aStack();
    const run = vi.fn<(graceMs: number) => void>();
    stack.add('stores', run);
    const firstStop = stack.stop(1);
    expect(stack.stop(2)).toBe(firstStop);
    await firstStop;
    await stack.stop(3);
    expect(run.mock.calls).toEqual([[1]]);
  });
});
