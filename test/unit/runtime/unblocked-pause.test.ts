import { describe, expect, it } from 'vitest';
import { unblockedPause } from '../../../src/runtime/clock.ts';

function block(milliseconds: number): void {
  const endMs = performance.now() + milliseconds;
  while (performance.now() < endMs);
}

describe('an unblocked pause', () => {
  it('does not end before a reply that arrived while the event loop was blocked', async () => {
    const { signal } = new AbortController();
    // A turn of the event loop reads replies after its timers.
    const reply = new Promise((resolve) => {
      setImmediate(resolve, 'reply');
    });
    const deadline = unblockedPause(1_000, signal).then(() => 'deadline');
    block(1_500);
    expect(await Promise.race([reply, deadline])).toBe('reply');
  });

  it('ends without a reply, and not before its time', async () => {
    const startMs = performance.now();
    await unblockedPause(300, new AbortController().signal);
    // A timer may end a few milliseconds early.
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(295);
  });

  it('rejects with the reason of its signal', async () => {
    const stop = new AbortController();
    const pausing = unblockedPause(60_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(pausing).rejects.toThrow('enough');
    await expect(unblockedPause(60_000, stop.signal)).rejects.toThrow('enough');
  });
});
