/** An admin's word that a price is right as it is. It holds until upstream changes the price again. */
export interface Release {
  readonly entryId: string;
  readonly field: string;
  /** Exactly the value that was looked at. */
  readonly value: unknown;
  readonly releasedAt: Date;
  /** Hash of the key of who released it. */
  readonly releasedBy: string;
}

/** Keeps releases. There is one per field of an entry: the last. */
export interface ReleaseStore {
  all(): Promise<readonly Release[]>;
  /** Replaces an earlier release of the same field. */
  put(release: Release): Promise<void>;
  /** Forgets releases that upstream has overtaken. A release that was replaced meanwhile stays. */
  remove(releases: readonly Release[]): Promise<void>;
}
