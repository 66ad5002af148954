/** Records of ended calls that wait for guardrails, which mask their texts. */
export interface PendingRecords {
  /** Aborts when the shutdown ends the wait. */
  readonly signal: AbortSignal;
  /**
   * Calls `write` once: with the result of `masked`, or with null when the shutdown ends the wait. `masked` does not
   * reject.
   */
  add<Texts>(masked: Promise<Texts | null>, write: (texts: Texts | null) => void): void;
  /** Resolves when no record waits. Records that still wait after `maxMs` are written without texts. */
  finish(maxMs: number): Promise<void>;
}

interface Waiting {
  readonly written: Promise<void>;
  /** Writes the record without texts. */
  end(): void;
}

export function createPendingRecords(): PendingRecords {
  const waiting = new Set<Waiting>();
  const ending = new AbortController();
  return {
    signal: ending.signal,
    add(masked, write) {
      const ended = Promise.withResolvers<null>();
      const one: Waiting = {
        written: Promise.race([masked, ended.promise]).then((texts) => {
          waiting.delete(one);
          write(texts);
        }),
        end: () => ended.resolve(null),
      };
      waiting.add(one);
    },
    async finish(maxMs) {
      const timer = setTimeout(() => {
        ending.abort();
        for (const { end } of waiting) end();
      }, maxMs);
      await Promise.all([...waiting].map(({ written }) => written));
      clearTimeout(timer);
    },
  };
}
