import { describe, expect, it } from 'vitest';
import { quarantineRow } from '../../../src/domain/catalog/quarantine.ts';

type Row = Readonly<Record<string, unknown>>;

const judge = (row: Row, accepted: Row | null = null, isReleased = (_field: string, _value: unknown) => false) =>
  quarantineRow('m', row, accepted, isReleased);
/** Reason for the quarantine of a field that changes from `before` to `now`; null for none. */
const reasonOf = (field: string, now: unknown, before?: unknown): string | null =>
  judge({ [field]: now }, before === undefined ? null : { [field]: before }).quarantined[0]?.reason ?? null;

describe('a price that changes', () => {
  it.each([
    ['just under ten-fold up', 9.99e-6, 1e-6, null],
    ['ten-fold up', 1e-5, 1e-6, 'ten_fold'],
    ['ten-fold up, where a division of doubles gives less than ten', 3e-5, 3e-6, 'ten_fold'],
    ['just under ten-fold down', 1.01e-7, 1e-6, null],
    ['ten-fold down', 1e-7, 1e-6, 'ten_fold'],
    ['a thousand-fold', 0.0009, 9e-7, 'ten_fold'],
    ['from zero', 1e-6, 0, 'crosses_zero'],
    ['to zero', 0, 1e-6, 'crosses_zero'],
    ['not at all', 5, 5, null],
    ['in notation only', '1e-6', 1e-6, null],
    ['ten-fold, as text', '1e-5', '0.000001', 'ten_fold'],
    ['below zero', -1e-6, 1e-6, 'negative'],
    ['to an invalid number', 'free', 1e-6, 'not_a_number'],
    ['to null', null, 1e-6, null],
    ['a little, above one dollar', 1.5, 1.4, null],
  ])('%s: %j after %j has the quarantine reason %s', (_what, now, before, reason) => {
    expect(reasonOf('output_cost_per_image', now, before)).toBe(reason);
  });
});

describe('a new field', () => {
  // A price for one token is absurd above 0.001 USD. Other prices have no such limit.
  it.each([
    ['input_cost_per_token', 0.001, null],
    ['input_cost_per_token', 0.0010001, 'absurd'],
    ['output_cost_per_token_above_272k_tokens', 0.54, 'absurd'],
    ['cache_read_input_token_cost', 0.0032, 'absurd'],
    ['input_cost_per_audio_token', '0.5', 'absurd'],
    ['output_cost_per_image_above_128k_tokens', 0.54, null],
    ['output_dbu_cost_per_token', 0.0025714, null],
    ['input_cost_per_second', 2, null],
    ['input_cost_per_token', 0, null],
    ['input_cost_per_image', -0.1, 'negative'],
    ['input_cost_per_image', Number.POSITIVE_INFINITY, 'not_a_number'],
    ['cache_creation_input_token_cost', true, 'not_a_number'],
    ['max_input_tokens', 1_000_000, null],
    ['regional_processing_uplift_multiplier_eu', 1.1, null],
    ['source', 'https://example.test/cost', null],
  ])('%s of %s has the quarantine reason %s', (field, value, reason) => {
    expect(reasonOf(field, value)).toBe(reason);
  });
});

describe('nested prices', () => {
  const tiers = (...prices: readonly number[]) =>
    prices.map((price, index) => ({ input_cost_per_token: price, range: [index * 128_000, (index + 1) * 128_000] }));

  it('are checked separately, and quarantined together', () => {
    const [before, now] = [{ tiered_pricing: tiers(1e-6, 2e-6) }, { tiered_pricing: tiers(1e-6, 2e-5) }];
    expect(judge(now, before)).toEqual({
      row: before,
      quarantined: [
        {
          entryId: 'm',
          field: 'tiered_pricing',
          value: now.tiered_pricing,
          served: before.tiered_pricing,
          reason: 'ten_fold',
        },
      ],
    });
  });
  it.each([
    ['an additional tier', 'tiered_pricing', tiers(1e-6, 2e-6, 4e-6), tiers(1e-6, 2e-6), null],
    ['changed bounds', 'tiered_pricing', [{ input_cost_per_token: 1e-6, range: [0, 9] }], tiers(1e-6), null],
    ['an absurd tier', 'tiered_pricing', tiers(1e-6, 0.002), tiers(1e-6), 'absurd'],
    [
      'a search price',
      'search_context_cost_per_query',
      { low: 0.1, high: 0.03 },
      { low: 0.01, high: 0.03 },
      'ten_fold',
    ],
    ['off-peak hours', 'off_peak_pricing', { windows: [{ hours: [1, 900] }] }, { windows: [{ hours: [1, 2] }] }, null],
    [
      'an off-peak price',
      'off_peak_pricing',
      { input_cost_per_token: 1e-9 },
      { input_cost_per_token: 1e-6 },
      'ten_fold',
    ],
  ])('are the only numbers that are checked in %s', (_what, field, now, before, reason) => {
    expect(reasonOf(field, now, before)).toBe(reason);
  });
});

describe('the served row', () => {
  it('has the last accepted value in place of a quarantined value, or no value where none was accepted', () => {
    const row = { mode: 'chat', input_cost_per_token: 1e-4, note: 1, output_cost_per_token: 0.5, max_tokens: 5 };
    const { row: served, quarantined } = judge(row, { input_cost_per_token: 1e-6, max_tokens: 4 });
    expect(JSON.stringify(served)).toBe('{"mode":"chat","input_cost_per_token":0.000001,"note":1,"max_tokens":5}');
    expect(quarantined).toEqual([
      { entryId: 'm', field: 'input_cost_per_token', value: 1e-4, served: 1e-6, reason: 'ten_fold' },
      { entryId: 'm', field: 'output_cost_per_token', value: 0.5, served: undefined, reason: 'absurd' },
    ]);
  });
  it('is the given row itself when nothing is quarantined', () => {
    const row = { input_cost_per_token: 1e-6 };
    expect(judge(row, { input_cost_per_token: 2e-6 }).row).toBe(row);
  });
  it('has an absurd price that was released, and no other absurd price', () => {
    const isReleased = (field: string, value: unknown) => field === 'input_cost_per_token' && value === 0.5;
    const counts = [0.5, 0.6].map(
      (price) => judge({ input_cost_per_token: price }, null, isReleased).quarantined.length,
    );
    expect(counts).toEqual([0, 1]);
  });
  it('has an absurd price that was accepted before and has not changed', () => {
    expect(reasonOf('input_cost_per_token', 0.5, 0.5)).toBe(null);
  });
});
