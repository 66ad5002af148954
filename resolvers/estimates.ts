import type { CatalogSnapshot, CatalogSource } from '../src/domain/catalog/catalog.ts';
import { rankEntries, type Ranking } from '../src/domain/catalog/estimate.ts';
import { keepRecent, type Recent } from '../src/domain/catalog/recent.ts';
import { assertWorkload, type Workload } from '../src/domain/catalog/workload.ts';
import { anyone } from './operation/access.ts';
import { type EntrySearch, searchEntries, stateOf } from './catalog.ts';
import { operation } from './operation/operation.ts';

/** A ranking, all from one state of the catalog. */
export interface RankedEntries extends Ranking {
  readonly snapshot: CatalogSnapshot;
}

/** Kept of the current state and gone with it, so that the next page is not ranked anew. Weights count entries. */
interface Kept {
  readonly snapshot: CatalogSnapshot;
  readonly ranked: Recent<RankedEntries>;
}
const MOST_RANKED = 50_000;
const kept = new WeakMap<CatalogSource, Kept>();

function keptOf(catalog: CatalogSource, snapshot: CatalogSnapshot): Recent<RankedEntries> | null {
  const before = kept.get(catalog);
  if (before?.snapshot === snapshot) return before.ranked;
  if (catalog.current() !== snapshot) return null;
  const ranked = keepRecent<RankedEntries>(MOST_RANKED, ({ entries }) => entries.length + 500);
  kept.set(catalog, { snapshot, ranked });
  return ranked;
}

/** A workload, and which entries may do it. */
export interface EstimateInput {
  readonly workload: Workload;
  readonly search: EntrySearch;
  /** Id of the state of the catalog to rank; null for the current one. */
  readonly pin: string | null;
}

const keyOf = ({ workload, search }: EstimateInput): string =>
  JSON.stringify([workload, search], (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** Ranks the entries that are searched for by what a workload costs. Throws InvalidInput. */
export const rankForWorkload = operation({
  name: 'rankForWorkload',
  access: anyone,
  allowance: 'catalog',
  run({ platform }, input: EstimateInput): RankedEntries {
    const { workload, search, pin } = input;
    assertWorkload(workload);
    const snapshot = stateOf(platform, pin);
    const rank = (): RankedEntries => {
      const { entries } = searchEntries(platform, snapshot, search);
      return { snapshot, ...rankEntries(entries, workload) };
    };
    return keptOf(platform.catalog, snapshot)?.get(keyOf(input), rank) ?? rank();
  },
});
