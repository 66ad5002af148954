/** Source of time, which tests can replace. */
export interface Clock {
  now(): Date;
  /** Monotonic time in ms, with fractions; for durations. */
  monotonicMs(): number;
}

/** Source of new identifiers. */
export interface Ids {
  uuid(): string;
  /** 16 random bytes as 32 lower-case hex digits, never all zero. */
  traceId(): string;
  /** 8 random bytes as 16 lower-case hex digits, never all zero. */
  spanId(): string;
}
