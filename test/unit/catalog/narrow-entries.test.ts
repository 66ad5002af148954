import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../../../src/domain/catalog/capabilities.ts';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import {
  assertConditions,
  contextWindowOf,
  type EntryConditions,
  narrowEntries,
  NO_ENTRY_CONDITIONS,
  pricePerTokenFrom,
} from '../../../src/domain/catalog/narrow-entries.ts';
import { modelsOfMap } from '../../../src/domain/catalog/price-map.ts';
import type { Rate } from '../../../src/domain/money.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';

const entry = (id: string, row: Record<string, unknown>): CatalogEntry => ({ id, provider: 'p', mode: 'chat', row });

const ENTRIES = [
  entry('cheap', {
    input_cost_per_token: 1e-7,
    output_cost_per_token: 4e-7,
    max_input_tokens: 128_000,
    supports_vision: true,
    supports_pdf_input: true,
    deprecation_date: '2026-11-21',
  }),
  entry('expensive', {
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    max_tokens: 8192,
    supports_vision: 'true',
  }),
  entry('free', { input_cost_per_token: 0, output_cost_per_token: 0, deprecation_date: 'some day' }),
  entry('tiered', {
    tiered_pricing: [
      { range: [0, 32_000], input_cost_per_token: 1.2e-6, output_cost_per_token: 6e-6 },
      { range: [32_000, 128_000], input_cost_per_token: 2.4e-6, output_cost_per_token: 12e-6 },
    ],
    max_input_tokens: '258048',
    supports_vision: false,
  }),
  entry('unpriced', { max_input_tokens: 0, deprecation_date: '2025-01-01', supports_vision: true }),
];

const idsFor = (conditions: Partial<EntryConditions>): string[] =>
  narrowEntries(ENTRIES, { ...NO_ENTRY_CONDITIONS, ...conditions }).map(({ id }) => id);

describe('narrowing entries', () => {
  it('keeps all entries without a condition, in their order', () => {
    expect(idsFor({})).toEqual(['cheap', 'expensive', 'free', 'tiered', 'unpriced']);
  });
  it('applies a price ceiling, inclusive and without unpriced entries', () => {
    expect(idsFor({ maxInputPrice: pricePerTokenFrom('2.5') })).toEqual(['cheap', 'expensive', 'free', 'tiered']);
    expect(idsFor({ maxInputPrice: pricePerTokenFrom('2.499999') })).toEqual(['cheap', 'free', 'tiered']);
    expect(idsFor({ maxOutputPrice: pricePerTokenFrom('6') })).toEqual(['cheap', 'free', 'tiered']);
    expect(idsFor({ maxOutputPrice: pricePerTokenFrom('0') })).toEqual(['free']);
  });
  it('applies an input and an output price ceiling together', () => {
    const bothCeilings = { maxInputPrice: pricePerTokenFrom('1.2'), maxOutputPrice: pricePerTokenFrom('0.4') };
    expect(idsFor(bothCeilings)).toEqual(['cheap', 'free']);
  });
  it('applies a minimum context window, which is `max_tokens` for entries without `max_input_tokens`', () => {
    expect(idsFor({ minContextWindow: 128_000 })).toEqual(['cheap', 'tiered']);
    expect(idsFor({ minContextWindow: 8192 })).toEqual(['cheap', 'expensive', 'tiered']);
    expect(idsFor({ minContextWindow: 0 })).toEqual(['cheap', 'expensive', 'tiered', 'unpriced']);
    expect(ENTRIES.map(contextWindowOf)).toEqual([128_000, 8192, null, 258_048, 0]);
  });
  it('requires every capability to be exactly true', () => {
    expect(idsFor({ capabilities: ['supports_vision'] })).toEqual(['cheap', 'unpriced']);
    expect(idsFor({ capabilities: ['supports_vision', 'supports_pdf_input'] })).toEqual(['cheap']);
  });
  it('splits by deprecation date from midnight UTC, and reads an invalid date as none', () => {
    const midnight = new Date('2026-11-21T00:00:00Z');
    const justAfterMidnight = new Date('2026-11-21T00:00:00.001Z');
    expect(idsFor({ deprecatedBefore: midnight })).toEqual(['unpriced']);
    expect(idsFor({ deprecatedBefore: justAfterMidnight })).toEqual(['cheap', 'unpriced']);
    expect(idsFor({ notDeprecatedBefore: midnight })).toEqual(['cheap', 'expensive', 'free', 'tiered']);
    expect(idsFor({ notDeprecatedBefore: justAfterMidnight })).toEqual(['expensive', 'free', 'tiered']);
    expect(idsFor({ notDeprecatedBefore: justAfterMidnight, deprecatedBefore: justAfterMidnight })).toEqual([]);
  });
});

it('a price ceiling in USD per million tokens becomes attodollars per token, rounded down', () => {
  expect(['2.5', '0', '0.000000000001', '0.0000000000009', null].map(pricePerTokenFrom)).toEqual([
    2_500_000_000_000n,
    0n,
    1n,
    0n,
    null,
  ]);
});

it.each([
  [{ maxInputPrice: -1n as Rate }, 'A price ceiling must not be below zero.'],
  [{ maxOutputPrice: -1n as Rate }, 'A price ceiling must not be below zero.'],
  [{ minContextWindow: -1 }, 'A context window must not be below zero.'],
])('the conditions %o are refused', (conditions, message) => {
  expect(() => assertConditions({ ...NO_ENTRY_CONDITIONS, ...conditions })).toThrow(message);
});

describe('the capabilities', () => {
  const keysOf = (rows: readonly Readonly<Record<string, unknown>>[]) =>
    [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => key.startsWith('supports_')).toSorted();

  it('are exactly the capability keys of the built-in map', () => {
    expect(keysOf(loadEmbeddedSnapshot().entries.map(({ row }) => row))).toEqual(Object.keys(CAPABILITIES));
  });

  const older = new URL('../../../../shared/data/model_prices.json', import.meta.url);
  it.skipIf(!existsSync(older))('include the capability keys of an older map', () => {
    const models = modelsOfMap(JSON.parse(readFileSync(older, 'utf8'))) ?? [];
    expect(models.length).toBeGreaterThan(0);
    expect(keysOf(models.map(([, row]) => row)).filter((key) => !(key in CAPABILITIES))).toEqual([]);
  });
});
