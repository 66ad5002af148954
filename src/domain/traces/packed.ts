import type { Owner } from '../caller.ts';
import type { CallUsage } from './call-usage.ts';
import type { SpanPayload } from './span.ts';
import type { SpanRows } from './span-rows.ts';
import type { TraceTally } from './trace.ts';

/** An export as it came in. */
export interface SentExport {
  readonly bytes: Uint8Array;
  /** `Content-Type` and `Content-Encoding`, as they were sent. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** A body as it is kept: compressed, with the payload of every span in it. */
export interface ExportBody {
  /** `protobuf` and `json` came in an export, `calls` are our own (`call-body.ts`). */
  readonly format: 'protobuf' | 'json' | 'calls';
  /** The sender's own gzip is kept as it came; all else is compressed with zstd. */
  readonly compression: 'gzip' | 'zstd';
  readonly bytes: Uint8Array;
}

/** What one export brought of one trace. */
export interface PackedTrace {
  readonly traceId: string;
  readonly tally: TraceTally;
  /** Lower-case hex, distinct, in the order of the rows. */
  readonly spanIds: readonly string[];
  readonly rows: SpanRows;
  /** The model calls among the spans that a price may be found for, in the order of the rows. */
  readonly calls: readonly PackedCall[];
}

/** A model call whose price is still to be found. */
export interface PackedCall {
  readonly usage: CallUsage;
  /** Where in the rows its estimate ends. */
  readonly end: number;
  readonly spanId: string;
  readonly requestId: string | null;
  /** See `SpanHead`. */
  readonly callId: string | null;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** The call in the same list that tells of it again, by its span id; null when none does. */
  readonly callAbove: string | null;
}

/** An export read and made ready to be stored: narrow rows, and the body that they point into. */
export interface PackedExport {
  readonly body: ExportBody;
  readonly traces: readonly PackedTrace[];
}

/** Reads exports, off the main thread where they are large. */
export interface ExportPacker {
  /**
   * Throws InvalidInput for what is no valid export, TooLarge for one that crosses a limit, and Unavailable when
   * too many are waiting to be read.
   */
  pack(sent: SentExport): Promise<PackedExport>;
}

/** Opens kept bodies. */
export interface BodyReader {
  /** The payload of the span at this place; `owner` is who sent it. */
  payload(body: ExportBody, at: number, owner: Owner): Promise<SpanPayload>;
  /** The body with nothing left of the spans of these traces. All others keep their places. */
  without(body: ExportBody, traceIds: readonly string[]): Promise<ExportBody>;
}
