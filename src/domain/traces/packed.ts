import type { Owner } from '../caller.ts';
import type { PackedCalls } from './packed-calls.ts';
import type { SpanPayload } from './span.ts';
import type { SpanRows } from './span-rows.ts';
import type { TraceTally } from './trace.ts';

/** An export as it was sent. */
export interface SentExport {
  /** Ownership passes to the packer: the bytes may be transferred to another thread. */
  readonly bytes: Uint8Array;
  /** The headers `Content-Type` and `Content-Encoding`, unchanged. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** A stored body: compressed, with the payloads of its spans. */
export interface ExportBody {
  /**
   * `protobuf` and `json`: an export as it was sent. `calls`: calls of the gateway, in our own format (`call-body.ts`).
   */
  readonly format: 'protobuf' | 'json' | 'calls';
  /** The sender's gzip is stored unchanged; everything else is compressed with zstd. */
  readonly compression: 'gzip' | 'zstd';
  readonly bytes: Uint8Array;
}

/** The spans of one trace in one export. */
export interface PackedTrace {
  readonly traceId: string;
  readonly tally: TraceTally;
  /** Lower-case hex, distinct, in the order of the rows. */
  readonly spanIds: readonly string[];
  readonly rows: SpanRows;
  /** Pairs of row indexes: a call of `PackedExport.calls`, and its nearest ancestor that describes the same call. */
  readonly callAncestors: readonly number[];
}

/** An export encoded for the store: span rows, and the body with their payloads. */
export interface PackedExport {
  readonly body: ExportBody;
  readonly traces: readonly PackedTrace[];
  /** The model calls that may have a price. */
  readonly calls: readonly PackedCalls[];
}

/** Reads exports, off the main thread where they are large. */
export interface ExportPacker {
  /**
   * Throws InvalidInput for an invalid export, TooLarge above a limit, and Unavailable when too many exports are being
   * read or wait.
   */
  pack(sent: SentExport): Promise<PackedExport>;
}

/** Reads stored bodies. */
export interface BodyReader {
  /** The payloads of the spans at these places, in their order; `owner` is their sender. Decompresses the body once. */
  payloads(body: ExportBody, places: readonly number[], owner: Owner): Promise<readonly SpanPayload[]>;
  /** The body without the spans of these traces. The other spans keep their places. */
  without(body: ExportBody, traceIds: readonly string[]): Promise<ExportBody>;
}
