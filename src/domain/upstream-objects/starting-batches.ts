/** Batches that this process is starting. Their rows are possibly not stored yet. */
export interface StartingBatches {
  /** Adds a batch that counts for these owners. */
  begin(owners: readonly string[], tokens: number): StartingBatch;
}

export interface StartingBatch {
  /**
   * Tokens of the batches of an owner that began before this one. Those whose rows the store returned are left out.
   * `found` has the ids of these rows.
   */
  tokensBefore(owner: string, found: ReadonlySet<string>): number;
  /** The batch has started, and its row is stored. */
  stored(id: string): void;
  /** The batch was not started. Has no effect after `stored`. */
  failed(): void;
}

interface Entry {
  readonly tokens: number;
  /** Id of the row; null until it is stored. */
  id: string | null;
  hasFailed: boolean;
}

export function createStartingBatches(): StartingBatches {
  const running = new Map<string, Set<Entry>>();

  function end(owners: readonly string[], entry: Entry): void {
    for (const owner of owners) {
      const ofOwner = running.get(owner);
      ofOwner?.delete(entry);
      if (ofOwner?.size === 0) running.delete(owner);
    }
  }

  return {
    begin(owners, tokens) {
      const entry: Entry = { tokens, id: null, hasFailed: false };
      // A batch of this list may end before its owner's rows are read. Its entry then has the id of its row.
      const before = new Map(owners.map((owner) => [owner, [...(running.get(owner) ?? [])]]));
      for (const owner of owners) running.set(owner, (running.get(owner) ?? new Set()).add(entry));
      return {
        tokensBefore: (owner, found) =>
          (before.get(owner) ?? [])
            .filter(({ id, hasFailed }) => !hasFailed && (id === null || !found.has(id)))
            .reduce((sum, one) => sum + one.tokens, 0),
        stored(id) {
          entry.id = id;
          end(owners, entry);
        },
        failed() {
          entry.hasFailed = entry.id === null;
          end(owners, entry);
        },
      };
    },
  };
}
