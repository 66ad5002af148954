/** The part of a map or a set that an eviction needs. */
interface Bounded<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Deletes the entries of a map or a set that were added first, until `most` entries or fewer are left. */
export function evictOldest<Key>(entries: Bounded<Key>, most: number): void {
  if (entries.size <= most) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    if (entries.size <= most) return;
  }
}
