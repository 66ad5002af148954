/** Where the time comes from, so that tests can hold it. */
export interface Clock {
  now(): Date;
  /** Milliseconds that only ever grow, with fractions; for durations. */
  monotonicMs(): number;
}

/** Where fresh identifiers come from. */
export interface Ids {
  uuid(): string;
  /** 16 random bytes as 32 lower-case hex digits, never all zero. */
  traceId(): string;
  /** 8 random bytes as 16 lower-case hex digits, never all zero. */
  spanId(): string;
}
