/**
 * An administrator's confirmation that a quarantined price is right. Valid until the price map changes the price again.
 */
export interface Release {
  readonly entryId: string;
  readonly field: string;
  /** The confirmed value. */
  readonly value: unknown;
  readonly releasedAt: Date;
  /** Hash of the administrator's key. */
  readonly releasedBy: string;
}

/** Store of releases. There is one per field of an entry: the last. */
export interface ReleaseStore {
  all(): Promise<readonly Release[]>;
  /** Replaces an earlier release of the same field. */
  put(release: Release): Promise<void>;
  /** Removes these releases. One whose value was replaced since stays. */
  remove(releases: readonly Release[]): Promise<void>;
}
