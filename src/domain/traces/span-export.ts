import type { ExportedSpan } from './exported-span.ts';

/** What became of spans on their way to an outside collector. */
interface SpanExportCounts {
  readonly sent: number;
  /** Not taken in: too much was waiting. */
  readonly dropped: number;
  /** The collector would not have them, or not after every try. */
  readonly failed: number;
  readonly waiting: number;
}

/** Sends the gateway's own spans to an outside collector, behind whoever is being served. */
export interface SpanExport {
  /** Takes a span; never waits and never throws. */
  push(span: ExportedSpan): void;
  counts(): SpanExportCounts;
  /** Sends what waits, for at most so long; what is left then is counted as failed. Takes nothing more. */
  drain(withinMs: number): Promise<void>;
}
