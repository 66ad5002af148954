import { describe, expect, it } from 'vitest';
import { fixedWindowEnd } from '../../../src/domain/keys/durations.ts';

const NOW = '2026-11-24T13:20:30Z';

describe('the end of a window without a stored start', () => {
  it.each([
    ['1d', '2026-11-25T00:00:00Z'],
    ['24h', '2026-11-25T00:00:00Z'],
    ['7d', '2026-11-30T00:00:00Z'],
    ['1w', '2026-11-30T00:00:00Z'],
    ['30d', '2026-12-01T00:00:00Z'],
    ['1mo', '2026-12-01T00:00:00Z'],
    ['2mo', '2027-01-01T00:00:00Z'],
    ['1h', '2026-11-24T14:00:00Z'],
    ['6h', '2026-11-24T18:00:00Z'],
    ['15m', '2026-11-24T13:30:00Z'],
    ['20s', '2026-11-24T13:20:40Z'],
  ])('for %s is %s', (duration, end) => {
    expect(fixedWindowEnd(duration, new Date(NOW))).toEqual(new Date(end));
  });

  it.each(['1d', '3d', '5d', '2w', '2mo', '3mo', '5h', '7h', '36h', '48h', '90m', '7m', '45s', '13s'])(
    'is the same for %s at every time of the window',
    (duration) => {
      const end = fixedWindowEnd(duration, new Date(NOW));
      const next = fixedWindowEnd(duration, end);
      expect(next > end).toBe(true);
      const length = next.getTime() - end.getTime();
      for (let part = 0; part < 50; part += 1) {
        const time = new Date(end.getTime() + (length * part) / 50);
        expect(fixedWindowEnd(duration, time)).toEqual(next);
      }
    },
  );

  it('is refused for a malformed duration', () => {
    expect(() => fixedWindowEnd('soon', new Date(NOW))).toThrow("Invalid budget_duration 'soon'");
  });
});
