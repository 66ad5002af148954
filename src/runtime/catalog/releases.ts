import type { Release, ReleaseStore } from '../../domain/catalog/releases.ts';
import { sameValue } from '../../domain/catalog/same-value.ts';
import type { IsReleased } from './state.ts';

/** Releases of quarantined prices by administrators, as known to this process. */
export interface KnownReleases {
  readonly isReleased: IsReleased;
  /** Reads the releases again: another process may have added some. */
  refresh(): Promise<void>;
  add(release: Release): Promise<void>;
  /** Removes the releases whose field has another value now. */
  removeObsolete(valueNow: (entryId: string, field: string) => unknown): Promise<void>;
}

const keyOf = (entryId: string, field: string): string => `${field} ${entryId}`;

/** Stores nothing: for a catalog without a store. */
const NO_STORE: ReleaseStore = { all: async () => [], put: async () => {}, remove: async () => {} };

/** Caches the releases of a store between two reads. */
export function createKnownReleases(store: ReleaseStore = NO_STORE): KnownReleases {
  let known: ReadonlyMap<string, Release> = new Map();
  const setKnown = (releases: Iterable<Release>): void => {
    known = new Map([...releases].map((release) => [keyOf(release.entryId, release.field), release]));
  };
  return {
    isReleased(entryId, field, value) {
      const release = known.get(keyOf(entryId, field));
      return release !== undefined && sameValue(release.value, value);
    },
    async refresh() {
      setKnown(await store.all());
    },
    async add(release) {
      await store.put(release);
      setKnown([...known.values(), release]);
    },
    async removeObsolete(valueNow) {
      const valid: Release[] = [];
      const obsolete: Release[] = [];
      for (const release of known.values()) {
        const isValid = sameValue(valueNow(release.entryId, release.field), release.value);
        (isValid ? valid : obsolete).push(release);
      }
      if (obsolete.length === 0) return;
      await store.remove(obsolete);
      setKnown(valid);
    },
  };
}
