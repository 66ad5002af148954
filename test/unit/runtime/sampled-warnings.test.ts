import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCountedWarnings, createSampledWarnings } from '../../../src/runtime/telemetry/log.ts';

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

  it('are logged up to the limit of a kind and second, and further ones are counted', () => {
    const { lines, warn } = aLog();
    for (let number = 1; number <= 5; number += 1) warn('keys', () => ({ number }), 'refused');
    warn('models', () => ({ number: 6 }), 'refused');
    vi.advanceTimersByTime(1_000);
    warn('keys', () => ({ number: 7 }), 'refused');
    expect(lines).toEqual([
      [{ number: 1 }, 'refused'],
      [{ number: 2 }, 'refused'],
      [{ number: 6 }, 'refused'],
      [{ kind: 'keys', leftOut: 3 }, 'refused (further warnings omitted)'],
      [{ number: 7 }, 'refused'],
    ]);
  });

  it('are logged without a count if none was omitted', () => {
    const { lines, warn } = aLog();
    warn('keys', () => ({}), 'refused');
    vi.advanceTimersByTime(10_000);
    expect(lines).toEqual([[{}, 'refused']]);
  });
});

describe('counted warnings', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function aLog() {
    const lines: [object, string][] = [];
    return { lines, ...createCountedWarnings({ warn: (facts, event) => lines.push([facts, event]) }) };
  }

  it('are logged once a second for each kind, with their number', () => {
    const { lines, warn } = aLog();
    for (let number = 1; number <= 5; number += 1) warn('keys', { number }, 'ended');
    warn('roles', { number: 6 }, 'ended');
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1_000);
    warn('keys', { number: 7 }, 'ended');
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual([
      [{ number: 1, count: 5 }, 'ended'],
      [{ number: 6, count: 1 }, 'ended'],
      [{ number: 7, count: 1 }, 'ended'],
    ]);
  });

  it('are logged on flush, and not again', () => {
    const { lines, warn, flush } = aLog();
    warn('keys', {}, 'ended');
    flush();
    flush();
    vi.advanceTimersByTime(10_000);
    expect(lines).toEqual([[{ count: 1 }, 'ended']]);
  });
});
