import { rankEntries } from '../src/domain/catalog/estimate.ts';
import type { EntrySearch, RankedEntries } from '../src/domain/catalog/result-cache.ts';
import { assertWorkload, type Workload } from '../src/domain/catalog/workload.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';
import { searchEntries, type SnapshotPin, snapshotOf } from './operation/catalog-search.ts';

/** A workload, and the entries to rank. */
export interface EstimateInput {
  readonly workload: Workload;
  readonly search: EntrySearch;
  /** Snapshot to rank; null for the current one. */
  readonly pin: SnapshotPin | null;
}

/** Ranks the entries that match a search by the cost of a workload. Throws InvalidInput. */
export const rankForWorkload = operation({
  name: 'rankForWorkload',
  access: anyone,
  allowance: 'catalog',
  run({ platform }: Scope<CatalogPlatform>, input: EstimateInput): RankedEntries {
    const { workload, search, pin } = input;
    assertWorkload(workload);
    const snapshot = snapshotOf(platform, pin);
    const rank = (): RankedEntries => {
      const { entries } = searchEntries(platform, snapshot, search);
      return { snapshot, ...rankEntries(entries, workload) };
    };
    return platform.catalogResults.ranking(snapshot, { workload, search }, rank);
  },
});
