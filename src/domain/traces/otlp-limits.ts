/** Limits of one export. Beyond any of them, except `valueBytes`, the export is refused as TooLarge. */
export interface OtlpLimits {
  /** Limit of the body as received, which the HTTP layer checks, and of the inflated body. */
  readonly bodyBytes: number;
  /** Nesting of messages (protobuf) or of objects and arrays (JSON). */
  readonly depth: number;
  /**
   * Protobuf fields, or JSON keys and values. Each span raises this limit by a sixty-fourth of it (ADR 0024).
   */
  readonly nodes: number;
  readonly spans: number;
  /** Attributes of one resource, instrumentation scope, span, event or link. */
  readonly attributes: number;
  /** Events of one span. */
  readonly events: number;
  /** Links of one span. */
  readonly links: number;
  /**
   * Size of the decoded body: the bytes of every text and binary value, and 16 more for every value. Every span, event,
   * link, resource and instrumentation scope counts 128 bytes. Shared values count once.
   */
  readonly decodedBytes: number;
  /** Bytes stored of one attribute, input or output; longer values are cut, not refused. */
  readonly valueBytes: number;
}

export const DEFAULT_OTLP_LIMITS: OtlpLimits = {
  bodyBytes: 16_777_216,
  depth: 32,
  nodes: 65_536,
  spans: 4_096,
  attributes: 256,
  events: 256,
  links: 256,
  decodedBytes: 16_777_216,
  valueBytes: 65_536,
};

/** Default maximum number of exports that are read concurrently. */
export const DEFAULT_CONCURRENT_INGESTS = 2;

/**
 * Up to this inflated size, in bytes, sending an export to a thread costs at least as much as reading it on the main
 * thread.
 */
export const DEFAULT_OFFLOAD_BYTES = 32_768;

/**
 * Used in place of `DEFAULT_OFFLOAD_BYTES` on one core, where another thread only adds the cost of the transfer.
 * Reading this size takes some milliseconds, about one time slice of the kernel.
 */
export const ONE_CORE_OFFLOAD_BYTES = 524_288;
