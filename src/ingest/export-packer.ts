import { availableParallelism } from 'node:os';
import type { Owner } from '../domain/caller.ts';
import { InvalidInput, TooLarge } from '../domain/errors.ts';
import type { Slots } from '../domain/concurrency-limit.ts';
import { DEFAULT_OFFLOAD_BYTES, type OtlpLimits } from '../domain/traces/otlp-limits.ts';
import type { BodyReader, ExportBody, ExportPacker, PackedExport, SentExport } from '../domain/traces/packed.ts';
import { packedOfText, type PackedText } from '../domain/traces/packed-text.ts';
import type { SpanPayload } from '../domain/traces/span.ts';
import { createSerialExecutor } from '../runtime/tasks/serial-executor.ts';
import { createThreadPool, transferableBuffer } from '../runtime/tasks/thread-pool.ts';
import { createWorkQueueLimit } from '../runtime/tasks/work-queue-limit.ts';
import { declaredSize, inflatedSize, packExport, payloadsAt, withoutSpans } from './pack-export.ts';

/**
 * A task of a worker thread. `pack` reads an export, `payloads` reads spans of a stored body, and `without` removes the spans of
 * traces from a stored body.
 */
export type PackingTask =
  | { readonly kind: 'pack'; readonly sent: SentExport }
  | {
      readonly kind: 'payloads';
      readonly body: ExportBody;
      readonly places: readonly number[];
      readonly owner: Owner;
    }
  | { readonly kind: 'without'; readonly body: ExportBody; readonly traceIds: readonly string[] };

export type PackingFailure =
  | { readonly kind: 'too large'; readonly message: string; readonly limit: number }
  | { readonly kind: 'invalid' | 'fault'; readonly message: string };

/** The result of a `pack` task. */
export interface PackedMessage extends PackedText, Pick<PackedExport, 'body'> {}

/** Exports up to this inflated size are read in milliseconds. They hold no slot of `unpacking` while they wait for this thread. */
const SLOTLESS_BYTES = 524_288;
const MAX_THREADS = 4;
/** Queue limit, in exports and in bytes as sent. */
const QUEUE_LIMIT = { tasks: 256, bytes: 64 << 20 };
/** Heap limit of one thread: a hostile export ends its thread only. */
const THREAD_HEAP_MIB = 512;

/**
 * Reads exports and stored bodies: small exports immediately, exports up to `offloadBytes` one per event loop turn on this
 * thread, larger ones on worker threads.
 */
export interface TracePacker extends ExportPacker, BodyReader {
  /** Ends the threads. */
  close(): Promise<void>;
}

/** Large exports hold a slot of `unpacking` while they are read. Without a free slot no export is accepted. */
export function createTracePacker({
  limits,
  unpacking,
  offloadBytes,
}: {
  readonly limits: OtlpLimits;
  readonly unpacking: Slots;
  /** Maximum inflated size of a body that is read on this thread, in bytes. */
  readonly offloadBytes: number;
}): TracePacker {
  const queueLimit = createWorkQueueLimit(QUEUE_LIMIT);
  const mainThread = createSerialExecutor(queueLimit);
  const pool = createThreadPool<PackingTask>({
    module: new URL('./pack-export-worker.ts', import.meta.url),
    workerData: limits,
    // One core is left to the main thread.
    threads: Math.min(Math.max(availableParallelism() - 1, 1), MAX_THREADS),
    heapMiB: THREAD_HEAP_MIB,
    room: queueLimit,
    errorFrom: (failure) => errorFrom(failure as PackingFailure),
  });
  return {
    async pack(sent) {
      const releaseSlot = unpacking.take();
      try {
        const size = declaredSize(sent);
        const isSmall = size <= DEFAULT_OFFLOAD_BYTES;
        if (!isSmall && size <= SLOTLESS_BYTES) releaseSlot();
        if (size <= offloadBytes) {
          const work = (): PackedExport | null => packSmall(sent, limits, offloadBytes);
          const packed = isSmall ? work() : await mainThread.run(work, sent.bytes.length);
          if (packed !== null) return packed;
        }
        const task = { kind: 'pack', sent } as const;
        const packed = await pool.run<PackedMessage>(task, sent.bytes.length, transferableBuffer(sent.bytes));
        return { body: packed.body, ...packedOfText(packed) };
      } finally {
        releaseSlot();
      }
    },
    async payloads(body, places, owner): Promise<readonly SpanPayload[]> {
      if (inflatedSize(body) <= offloadBytes) return payloadsAt(body, places, owner, limits.valueBytes);
      return pool.run({ kind: 'payloads', body, places, owner }, body.bytes.length);
    },
    async without(body, traceIds): Promise<ExportBody> {
      if (inflatedSize(body) <= offloadBytes) return withoutSpans(body, traceIds);
      return pool.run({ kind: 'without', body, traceIds }, body.bytes.length);
    },
    close: () => pool.close(),
  };
}

/** Null for a body that is larger than declared and than `maxBytes`. */
function packSmall(sent: SentExport, limits: OtlpLimits, maxBytes: number): PackedExport | null {
  const bodyBytes = Math.min(limits.bodyBytes, maxBytes);
  try {
    return packExport(sent, { ...limits, bodyBytes });
  } catch (error) {
    if (error instanceof TooLarge && error.limit === bodyBytes && bodyBytes < limits.bodyBytes) return null;
    throw error;
  }
}

function errorFrom(failure: PackingFailure): Error {
  switch (failure.kind) {
    case 'too large':
      return new TooLarge(failure.message, failure.limit);
    case 'invalid':
      return new InvalidInput(failure.message);
    case 'fault':
      return new Error(failure.message);
  }
}
