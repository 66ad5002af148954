import type { CatalogSnapshot, PatternCompiler } from '../../src/domain/catalog/catalog.ts';
import { findEntries, modelFilterOf, partMatcher } from '../../src/domain/catalog/find-entries.ts';
import { assertConditions, narrowEntries } from '../../src/domain/catalog/narrow-entries.ts';
import type { EntrySearch, FoundEntries } from '../../src/domain/catalog/result-cache.ts';
import { sortEntries } from '../../src/domain/catalog/sort-entries.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import type { CatalogPlatform } from './catalog-platform.ts';

function matcherOf(model: string | null, patterns: PatternCompiler): ((id: string) => boolean) | null {
  const filter = modelFilterOf(model);
  if (filter.kind === 'any') return null;
  if (filter.kind === 'part') return partMatcher(filter.text);
  const compiled = patterns.compile(filter.source);
  if ('fault' in compiled) throw new InvalidInput(`Invalid regex in 'model' param: ${compiled.fault}`);
  return (id) => compiled.pattern.occursIn(id);
}

/** Searches a snapshot. Equal searches of the current snapshot share a cached object. Throws InvalidInput. */
export function searchEntries(platform: CatalogPlatform, snapshot: CatalogSnapshot, search: EntrySearch): FoundEntries {
  const { filters, conditions, sort } = search;
  if (conditions) assertConditions(conditions);
  const find = (): FoundEntries => {
    const passed = findEntries(snapshot.entries, filters, matcherOf(filters.model, platform.patterns));
    const narrowed = conditions ? narrowEntries(passed, conditions) : passed;
    return { snapshot, entries: sort ? sortEntries(narrowed, sort) : narrowed };
  };
  return platform.catalogResults.found(snapshot, search, find);
}

/** A snapshot that a request names. */
export interface SnapshotPin {
  readonly id: string;
  /** Path of the parameter or argument that holds the id, for the error. */
  readonly path: readonly string[];
}

/** The snapshot of a pin; the current one for null. Throws InvalidInput for an evicted snapshot. */
export function snapshotOf({ catalog }: CatalogPlatform, pin: SnapshotPin | null): CatalogSnapshot {
  if (pin === null) return catalog.current();
  const { id, path } = pin;
  const state = catalog.findSnapshot(id);
  if (state !== null) return state;
  const message = `This catalog snapshot is no longer stored. Repeat the request without \`${path.at(-1)}\`.`;
  throw new InvalidInput(message, [{ path, rule: 'snapshot_not_kept', message, input: id }]);
}
