import type { ExportedSpan } from './exported-span.ts';

/** Counters of the export to an outside collector. */
interface SpanExportCounts {
  readonly sent: number;
  /** Dropped because the queue was full, or after `drain` began. */
  readonly dropped: number;
  /** Accepted by `push`, but not delivered. */
  readonly failed: number;
  readonly waiting: number;
}

/** Exports the gateway's spans to an outside collector in the background. */
export interface SpanExport {
  /** Queues a span; never waits and never throws. */
  push(span: ExportedSpan): void;
  counts(): SpanExportCounts;
  /** Sends the queue for at most `withinMs`; the rest counts as failed. Accepts no more spans. */
  drain(withinMs: number): Promise<void>;
}
