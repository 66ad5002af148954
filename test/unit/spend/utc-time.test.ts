import { describe, expect, it } from 'vitest';
import { momentFrom } from '../../../src/domain/spend/report-dates.ts';
import { utcTimeFrom } from '../../../src/domain/utc-time.ts';

describe('a time without an offset', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T10:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31 10:00:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T10:00:00.5', '2026-01-31T10:00:00.500Z'],
    [' 2028-02-29 ', '2028-02-29T00:00:00.000Z'],
  ])('is in UTC: %s', (text, expected) => {
    expect(utcTimeFrom(text)?.toISOString()).toBe(expected);
  });
});

describe('a time with an offset', () => {
  it.each([
    ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T10:00:00z', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31 10:00:00+01:00', '2026-01-31T09:00:00.000Z'],
    ['2026-01-31T10:00:00.250-0530', '2026-01-31T15:30:00.250Z'],
  ])('is read with it: %s', (text, expected) => {
    expect(utcTimeFrom(text)?.toISOString()).toBe(expected);
  });
});

describe('other text', () => {
  it.each(['', 'soon', 'March 5, 2026', '2026-02-29', '2026-13-01', '2026-01-31T25:00', '2026-1-31', '1769853600'])(
    'is no time: %j',
    (text) => {
      expect(utcTimeFrom(text)).toBe(null);
    },
  );

  it.each(['2026-01-31 24:00', '2026-01-31T24:00:00', '2026-01-31T24:00:00Z'])('has the hour 24: %s', (text) => {
    expect(utcTimeFrom(text)).toBe(null);
  });
});

describe('a moment', () => {
  it.each([
    ['2026-01-31 23:59:59', '2026-01-31T23:59:59.000Z'],
    ['2026-01-31T00:00:00', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ])('is read in UTC: %s', (text, expected) => {
    expect(momentFrom(text)?.toISOString()).toBe(expected);
  });

  it.each(['2026-01-31 24:00:00', '2026-01-31 23:60:00', '2026-02-29 10:00:00', '2026-01-31 10:00'])(
    'is null for other text: %s',
    (text) => {
      expect(momentFrom(text)).toBe(null);
    },
  );
});
