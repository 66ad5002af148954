import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSampledWarnings } from '../../../src/runtime/log.ts';

describe('sampled warnings', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function aLog() {
    const lines: [object, string][] = [];
    return {
      lines,
      warn: createSampledWarnings({ warn: (facts, event) => lines.push([facts, event]) }, { sample: 2 }),
    };
  }

  it('tells some of a kind in full, then how many were left out, and begins anew', () => {
    const { lines, warn } = aLog();
    for (let number = 1; number <= 5; number += 1) warn('keys', () => ({ number }), 'refused');
    warn('models', () => ({ number: 6 }), 'refused');
    vi.advanceTimersByTime(1_000);
    warn('keys', () => ({ number: 7 }), 'refused');
    expect(lines).toEqual([
      [{ number: 1 }, 'refused'],
      [{ number: 2 }, 'refused'],
      [{ number: 6 }, 'refused'],
      [{ kind: 'keys', leftOut: 3 }, 'refused, more often than is told'],
      [{ number: 7 }, 'refused'],
    ]);
  });

  it('says nothing of what was left out when nothing was', () => {
    const { lines, warn } = aLog();
    warn('keys', () => ({}), 'refused');
    vi.advanceTimersByTime(10_000);
    expect(lines).toEqual([[{}, 'refused']]);
  });
});
