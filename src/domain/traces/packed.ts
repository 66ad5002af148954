import type { Owner } from '../caller.ts';
import type { PackedCalls } from './packed-calls.ts';
import type { SpanPayload } from './span.ts';
import type { SpanRows } from './span-rows.ts';
import type { TraceTally } from './trace.ts';

/** An export as it came in. */
export interface SentExport {
  /** Whoever reads the export takes them over: they may move to another thread, and the kept body be all that is left. */
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
  /** Of the calls in `PackedExport.calls`, those that another of them tells of again: its place and that one's, by turns. */
  readonly callsAbove: readonly number[];
}

/** An export read and made ready to be stored: narrow rows, and the body that they point into. */
export interface PackedExport {
  readonly body: ExportBody;
  readonly traces: readonly PackedTrace[];
  /** The model calls among the spans that a price may be found for. */
  readonly calls: readonly PackedCalls[];
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
