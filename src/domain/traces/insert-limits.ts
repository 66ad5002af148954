/** What one insert into the trace store may ask of its server. */
export interface InsertLimits {
  /** Most bytes of its rows as they are sent. A row that is larger is taken by nobody. */
  readonly bytes: number;
  /** How long the server may take to say that they are stored. */
  readonly timeoutMs: number;
}

export const DEFAULT_INSERT_LIMITS: InsertLimits = { bytes: 67_108_864, timeoutMs: 30_000 };
