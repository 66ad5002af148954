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

/** Store of releases, with at most one release for each field of an entry. */
export interface ReleaseStore {
  all(): Promise<readonly Release[]>;
  /** Replaces an earlier release of the same field. */
  put(release: Release): Promise<void>;
  /** Removes these releases. A release that `put` has replaced since, by one of another value, stays. */
  remove(releases: readonly Release[]): Promise<void>;
}
