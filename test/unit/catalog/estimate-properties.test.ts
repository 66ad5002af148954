import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import { estimate, rankEntries } from '../../../src/domain/catalog/estimate.ts';
import { readTariff, tierFor } from '../../../src/domain/catalog/prices.ts';
import { tariffsOf } from '../../../src/domain/catalog/tariffs.ts';
import { NO_SHARE, shareFrom, WHOLE, type Workload } from '../../../src/domain/catalog/workload.ts';
import { costOf } from '../../../src/gateway/accounting/price.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';
import { randomFrom } from '../../support/random.ts';

const { entries } = loadEmbeddedSnapshot();
const random = randomFrom(20_261_121);

function someWorkload(): Workload {
  const hit = random(1001);
  const share = (thousandths: number) => shareFrom('share', (thousandths / 1000).toFixed(3));
  // The rates of cache hits and cache writes may have a sum of at most 1.
  return {
    requests: 1 + random(1_000_000),
    inputTokens: random(300_000),
    outputTokens: random(4000),
    cacheHitRate: share(hit),
    cacheWriteRate: share(random(1001 - hit)),
    batchShare: share(random(1001)),
    reasoningShare: share(random(1001)),
    modes: ['chat', 'responses', 'completion'],
  };
}

const workloads = Array.from({ length: 5 }, someWorkload);
const sample = entries.filter((_entry, index) => index % 7 === 0);
const totalOf = (entry: CatalogEntry, workload: Workload): bigint | null => estimate(entry, workload)?.total ?? null;

/** Ids of the sampled entries whose first total is larger than the second. Checks that more than 300 are compared. */
function idsWithLargerFirstTotal(
  first: (entry: CatalogEntry) => bigint | null,
  second: (entry: CatalogEntry) => bigint | null,
) {
  let compared = 0;
  const wrong = sample.filter((entry) => {
    const [left, right] = [first(entry), second(entry)];
    if (left === null || right === null) return false;
    compared += 1;
    return left > right;
  });
  expect(compared).toBeGreaterThan(300);
  return wrong.map(({ id }) => id);
}

/** Whether each price of a tier is at least that of the tier below it. A missing price is that of the tier below. */
function neverGetsCheaper(entry: CatalogEntry): boolean {
  const { standard, batch } = tariffsOf(entry);
  return [standard, batch].every((tariff) => {
    // A tariff has its highest tier first.
    const steps = tariff ? [tariff.base, ...tariff.tiers.map(({ prices }) => prices).toReversed()] : [];
    return steps.every((prices, index) =>
      (['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const).every(
        (kind) => index === 0 || (steps[index - 1]?.[kind] ?? 0n) <= (prices[kind] ?? steps[index - 1]?.[kind] ?? 0n),
      ),
    );
  });
}

describe.each(workloads.map((workload, index) => [index, workload] as const))(
  'a random workload, %i',
  (_index, workload) => {
    it('has an estimate whose lines add up to the total', () => {
      expect(sample.filter((entry) => estimate(entry, workload) !== null).length).toBeGreaterThan(300);
      const wrong = sample.filter((entry) => {
        const result = estimate(entry, workload);
        return result !== null && result.lines.reduce((sum, { cost }) => sum + cost, 0n) !== result.total;
      });
      expect(wrong).toEqual([]);
    });

    it('costs the same as the gateway bills for one request of that size, without cache and batch', () => {
      const { inputTokens } = workload;
      // Half of the output is reasoning. The output is even, so that both halves are whole tokens.
      const reasoningTokens = 1 + Math.floor(workload.outputTokens / 2);
      const outputTokens = 2 * reasoningTokens;
      const usage = { inputTokens, outputTokens, reasoningTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const withoutCacheAndBatch = { cacheHitRate: NO_SHARE, cacheWriteRate: NO_SHARE, batchShare: NO_SHARE };
      const singleRequest = {
        ...workload,
        ...withoutCacheAndBatch,
        requests: 1,
        outputTokens,
        reasoningShare: shareFrom('share', '0.5'),
      };
      const billed = ({ row }: CatalogEntry): bigint | null => {
        const tariff = readTariff(row);
        return tariff && costOf(tariff, usage);
      };
      const priced = entries.filter((entry) => billed(entry) !== null);
      expect(priced.length).toBeGreaterThan(3_000);
      expect(entries.filter((entry) => billed(entry) !== totalOf(entry, singleRequest)).map(({ id }) => id)).toEqual(
        [],
      );
    });

    it('is never cheaper with more requests or more output', () => {
      const withMoreRequests = { ...workload, requests: workload.requests + 1 };
      const withMoreOutput = { ...workload, outputTokens: workload.outputTokens + 1000 };
      expect(
        idsWithLargerFirstTotal(
          (entry) => totalOf(entry, workload),
          (entry) => totalOf(entry, withMoreRequests),
        ),
      ).toEqual([]);
      expect(
        idsWithLargerFirstTotal(
          (entry) => totalOf(entry, workload),
          (entry) => totalOf(entry, withMoreOutput),
        ),
      ).toEqual([]);
    });

    it('is never cheaper with more input, if no tier has a lower price than the tier below it', () => {
      const withMoreInput = { ...workload, inputTokens: workload.inputTokens + 150_000 };
      expect(
        idsWithLargerFirstTotal(
          (entry) => (neverGetsCheaper(entry) ? totalOf(entry, workload) : null),
          (entry) => totalOf(entry, withMoreInput),
        ),
      ).toEqual([]);
    });

    it('is never more expensive as batches, if no batch price is higher', () => {
      const hasNoHigherBatchPrice = (entry: CatalogEntry): boolean => {
        const [standard, batch] = [tariffsOf(entry).standard, tariffsOf(entry).batch].map(
          (tariff) => tariff && (tierFor(tariff, workload.inputTokens)?.prices ?? tariff.base),
        );
        return (['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const).every(
          (kind) => (batch?.[kind] ?? 0n) <= (standard?.[kind] ?? 0n),
        );
      };
      const batched = { ...workload, batchShare: WHOLE };
      const unbatched = { ...workload, batchShare: NO_SHARE };
      expect(
        idsWithLargerFirstTotal(
          (entry) => (hasNoHigherBatchPrice(entry) ? totalOf(entry, batched) : null),
          (entry) => totalOf(entry, unbatched),
        ),
      ).toEqual([]);
    });

    it('ranks or counts every entry of its modes once', () => {
      const { entries: ranked, unpriced, tooSmall } = rankEntries(entries, workload);
      const matching = entries.filter(({ mode }) => workload.modes.includes(mode ?? ''));
      expect(ranked.length + unpriced + tooSmall).toBe(matching.length);
      expect(new Set(ranked).size).toBe(ranked.length);
      const totals = ranked.map((entry) => totalOf(entry, workload) ?? -1n);
      expect(totals).toEqual(totals.toSorted((left, right) => Number(left - right)));
      expect(totals.includes(-1n)).toBe(false);
    });
  },
);
