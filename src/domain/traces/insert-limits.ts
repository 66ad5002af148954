/** Limits of one insert into ClickHouse. */
export interface InsertLimits {
  /** Maximum bytes of its rows as sent. A row that alone is larger is refused. */
  readonly bytes: number;
  /** Timeout of the acknowledgement, in ms. */
  readonly timeoutMs: number;
}

export const DEFAULT_INSERT_LIMITS: InsertLimits = { bytes: 67_108_864, timeoutMs: 30_000 };
