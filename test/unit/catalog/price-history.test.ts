import { describe, expect, it } from 'vitest';
import type { CatalogChange } from '../../../src/domain/catalog/changes.ts';
import type { EntryHistory } from '../../../src/domain/catalog/history.ts';
import { pricesAt, priceStepsOf, usdOfPrice } from '../../../src/domain/catalog/price-history.ts';

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const NOW = day(31);
const INPUT = 'input_cost_per_token';
const OUTPUT = 'output_cost_per_token';

const aChange = (dayNumber: number, fields: Partial<CatalogChange>): CatalogChange => ({
  at: day(dayNumber),
  notBefore: null,
  entryId: 'm',
  provider: null,
  op: 'changed',
  field: null,
  old: null,
  new: null,
  snapshotId: null,
  ...fields,
});
const changed = (dayNumber: number, old: unknown, updated: unknown, field = INPUT) =>
  aChange(dayNumber, { field, old, new: updated });
const added = (dayNumber: number, fields: object | null) => aChange(dayNumber, { op: 'added', new: fields });
const removed = (dayNumber: number, fields: object | null) => aChange(dayNumber, { op: 'removed', old: fields });

/** History imported from the 1st to the 10th and recorded since the 20th, without observations in between. */
const aHistory = (fields: Partial<EntryHistory>): EntryHistory => ({
  entryId: 'm',
  changes: [],
  complete: true,
  fields: null,
  spans: [
    { source: 'imported', from: day(1), to: day(10) },
    { source: 'recorded', from: day(20), to: null },
  ],
  ...fields,
});

/** The price of a field on each day: `?` if it is unknown, `-` if there is none. */
const byDay = (history: EntryHistory, days: readonly number[], field = INPUT): readonly unknown[] =>
  days.map((number) => {
    const price = pricesAt(history, day(number), NOW).prices.find((candidate) => candidate.field === field);
    if (price?.known !== true) return '?';
    return price.value ?? '-';
  });
const listed = (history: EntryHistory, days: readonly number[]): readonly unknown[] =>
  days.map((number) => pricesAt(history, day(number), NOW).listed);

describe('the price at an instant', () => {
  it('is read from the change before and the change after, within the periods of the history only', () => {
    const history = aHistory({ changes: [changed(3, 1, 2), changed(5, 2, 4)], fields: { [INPUT]: 8 } });
    expect(byDay(history, [0, 1, 2, 3, 4, 5, 10, 11, 19, 20, 31, 32])).toEqual([
      '?',
      1,
      1,
      2,
      2,
      4,
      4,
      '?',
      '?',
      8,
      8,
      '?',
    ]);
  });

  it('is derived backwards from the current price through recorded changes', () => {
    const history = aHistory({ changes: [changed(22, 3, 5), changed(25, 5, null)], fields: {} });
    expect(byDay(history, [20, 21, 22, 24, 25, 31])).toEqual([3, 3, 5, 5, '-', '-']);
  });

  it('is unknown where an import adds an entry without its fields and no later change has the old price', () => {
    const history = aHistory({ changes: [added(3, null), changed(6, 1, 2), removed(8, null)] });
    expect(byDay(history, [1, 2, 3, 5, 6, 7, 8, 10])).toEqual(['-', '-', 1, 1, 2, 2, '-', '-']);
    expect(byDay(history, [2, 3, 7, 8], OUTPUT)).toEqual(['?', '?', '?', '?']);
    const unpriced = aHistory({ changes: [added(3, null), removed(8, null)], fields: { [INPUT]: 1 } });
    expect(byDay(unpriced, [2, 3, 7, 8])).toEqual(['-', '?', '?', '-']);
    expect(listed(unpriced, [0, 1, 3, 7, 8, 15, 20])).toEqual([null, false, true, true, false, null, true]);
  });

  it('is known where the record has the fields of added and removed entries', () => {
    const changes = [
      added(21, { [INPUT]: 1 }),
      changed(22, 1, 2),
      removed(24, { [INPUT]: 2 }),
      added(26, { [OUTPUT]: 3 }),
    ];
    const history = aHistory({ changes, fields: { [OUTPUT]: 3 } });
    expect(byDay(history, [20, 21, 22, 24, 26, 31])).toEqual(['-', 1, 2, '-', '-', '-']);
    expect(byDay(history, [20, 21, 23, 26, 31], OUTPUT)).toEqual(['-', '-', '-', 3, 3]);
    expect(listed(history, [19, 20, 21, 25, 26])).toEqual([null, false, true, false, true]);
  });

  it('is known only from the oldest change on, when older changes were not read', () => {
    const history = aHistory({ changes: [changed(22, 3, 5)], complete: false, fields: { [INPUT]: 5 } });
    expect(byDay(history, [20, 21, 22, 31])).toEqual(['?', '?', 5, 5]);
  });

  it('is the result of the last of several changes at one instant', () => {
    const history = aHistory({ changes: [changed(5, 1, 2), changed(5, 2, 3)] });
    expect(byDay(history, [4, 5, 6])).toEqual([1, 3, 3]);
  });

  it('is unknown in a gap before a change, and known in a gap without a change', () => {
    const gapFromDay22 = { notBefore: day(22) };
    const changes = [
      { ...changed(25, 1, 2), ...gapFromDay22 },
      { ...removed(28, { [INPUT]: 2 }), notBefore: day(27) },
    ];
    const history = aHistory({ changes, fields: null });
    expect(byDay(history, [20, 21, 22, 24, 25, 26, 27, 28])).toEqual([1, 1, '?', '?', 2, 2, '?', '-']);
    expect(listed(history, [20, 22, 24, 26, 27, 28])).toEqual([true, true, true, true, null, false]);
    const outputChangedInGap = aHistory({
      changes: [{ ...changed(25, 1, 2, OUTPUT), ...gapFromDay22 }],
      fields: { [INPUT]: 5, [OUTPUT]: 2 },
    });
    expect(byDay(outputChangedInGap, [22, 24, 25])).toEqual([5, 5, 5]);
    expect(priceStepsOf(history, { from: day(21), to: day(27) }, NOW)).toEqual([
      { field: INPUT, from: day(21), to: day(22), value: 1 },
      { field: INPUT, from: day(25), to: day(27), value: 2 },
    ]);
  });

  it('is derived from a change only within the import that covers it, when two imports overlap', () => {
    const spans = [
      { source: 'imported' as const, from: day(1), to: day(5) },
      { source: 'imported' as const, from: day(3), to: day(9) },
    ];
    const history = aHistory({ changes: [changed(7, 1, 2)], spans });
    expect(byDay(history, [2, 3, 5, 7, 9, 10])).toEqual(['?', 1, 1, 2, 2, '?']);
    expect(priceStepsOf(history, { from: null, to: null }, NOW)).toEqual([
      { field: INPUT, from: day(3), to: day(7), value: 1 },
      { field: INPUT, from: day(7), to: day(9), value: 2 },
    ]);
  });

  it('is absent for an entry without observations, and for fields that are not prices', () => {
    expect(pricesAt(aHistory({ spans: [] }), day(5), NOW)).toEqual({
      entryId: 'm',
      at: day(5),
      listed: null,
      prices: [],
    });
    const withoutPrices = aHistory({ changes: [changed(3, true, false, 'supports_vision')], fields: { rpm: 1 } });
    expect(pricesAt(withoutPrices, day(25), NOW).prices).toEqual([]);
  });

  it('is known up to a recorded change whose time is later than now, and not after it', () => {
    const history = aHistory({ changes: [changed(40, 1, 2)], fields: { [INPUT]: 2 } });
    expect(byDay(history, [30, 31, 40, 41])).toEqual([1, 1, 2, '?']);
  });
});

describe('the steps of a price', () => {
  const history = aHistory({
    changes: [
      added(3, null),
      changed(6, 1, 2),
      changed(22, 7, 9),
      changed(22, 1, 3, OUTPUT),
      removed(24, { [INPUT]: 9 }),
    ],
  });

  it('have a gap where the price is unknown', () => {
    const steps = priceStepsOf(history, { from: null, to: null }, NOW);
    expect(steps.filter(({ field }) => field === INPUT)).toEqual([
      { field: INPUT, from: day(1), to: day(3), value: null },
      { field: INPUT, from: day(3), to: day(6), value: 1 },
      { field: INPUT, from: day(6), to: day(10), value: 2 },
      { field: INPUT, from: day(20), to: day(22), value: 7 },
      { field: INPUT, from: day(22), to: day(24), value: 9 },
      { field: INPUT, from: day(24), to: null, value: null },
    ]);
    expect(steps.map(({ field }) => field)).toEqual(steps.map(({ field }) => field).toSorted());
  });

  it('are cut at the start and end of the period', () => {
    expect(priceStepsOf(history, { from: day(4), to: day(7) }, NOW)).toEqual([
      { field: INPUT, from: day(4), to: day(6), value: 1 },
      { field: INPUT, from: day(6), to: day(7), value: 2 },
    ]);
    expect(priceStepsOf(history, { from: day(11), to: day(19) }, NOW)).toEqual([]);
    expect(priceStepsOf(history, { from: day(7), to: day(4) }, NOW)).toEqual([]);
  });

  it('have no step where the price is unchanged', () => {
    const steady = aHistory({ changes: [changed(3, 1, 2), added(4, null), changed(6, 2, 3)] });
    expect(priceStepsOf(steady, { from: day(1), to: day(10) }, NOW)).toEqual([
      { field: INPUT, from: day(1), to: day(3), value: 1 },
      { field: INPUT, from: day(3), to: day(6), value: 2 },
      { field: INPUT, from: day(6), to: day(10), value: 3 },
    ]);
  });

  it('agree with the price at the start of each step and just before its end', () => {
    const steps = priceStepsOf(history, { from: null, to: null }, NOW);
    expect(steps.length).toBeGreaterThan(6);
    for (const { field, from, to, value } of steps)
      for (const instant of [from, new Date((to ?? NOW).getTime() - 1)]) {
        const priceThen = pricesAt(history, instant, NOW).prices.find((price) => price.field === field);
        expect(priceThen).toEqual({ field, known: true, value });
      }
  });
});

it.each([
  ['a number', INPUT, 1.4e-8, 1.4e-8],
  ['a number in text', INPUT, ' 1e-6 ', 1e-6],
  ['nothing', INPUT, null, null],
  ['a table', 'search_context_cost_per_query', { low: 1 }, null],
  ['another unit', 'input_dbu_cost_per_token', 1, null],
  ['a factor', 'regional_processing_uplift_multiplier_eu', 1.1, null],
])('the USD price of %s (%s: %j) is %j', (_case, field, value, usd) => {
  expect(usdOfPrice(field, value)).toBe(usd);
});
