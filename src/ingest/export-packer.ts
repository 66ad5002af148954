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
import { declaredSize, estimatedInflatedSize, packExport, payloadsAt, withoutSpans } from './pack-export.ts';

/**
 * A task of a worker thread. `pack` reads an export, `payloads` reads spans of a stored body, and `without` removes the
 * spans of traces from a stored body.
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

/**
 * Inflated size up to which an export is read in milliseconds. Such an export returns its slot before it waits in a
 * queue.
 */
const SLOTLESS_BYTES = 524_288;
const MAX_THREADS = 4;
/** Maximum number of tasks that wait or run, and maximum bytes of their bodies as sent or stored. */
const QUEUE_LIMIT = { tasks: 256, bytes: 64 << 20 };
/** Heap limit of one thread: an export that exceeds it ends only this thread, not the process. */
const THREAD_HEAP_MIB = 512;

/**
 * Reads exports and stored bodies. Worker threads read what is larger than `offloadBytes` once inflated. This thread
 * reads the rest: exports above `DEFAULT_OFFLOAD_BYTES` one per turn of the event loop, smaller exports and stored
 * bodies immediately.
 */
export interface TracePacker extends ExportPacker, BodyReader {
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * `unpacking` limits the exports that are read concurrently. An export that finds no free slot is refused. Exports
 * larger than `SLOTLESS_BYTES` hold their slot until they are read.
 */
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
          const work = (): PackedExport | null => packUpTo(offloadBytes, sent, limits);
          const packed = isSmall ? work() : await mainThread.run(work, sent.bytes.length);
          if (packed !== null) return packed;
        }
        const task = { kind: 'pack', sent } as const;
        const packed = await pool.run<PackedMessage>(task, sent.bytes.length, transferableBuffer(sent.bytes));
        return { body: packed.body, ...packedOfText(packed) };
      } finally {
        // No effect when the slot is released already.
        releaseSlot();
      }
    },
    async payloads(body, places, owner): Promise<readonly SpanPayload[]> {
      if (estimatedInflatedSize(body) <= offloadBytes) return payloadsAt(body, places, owner, limits.valueBytes);
      return pool.run({ kind: 'payloads', body, places, owner }, body.bytes.length);
    },
    async without(body, traceIds): Promise<ExportBody> {
      if (estimatedInflatedSize(body) <= offloadBytes) return withoutSpans(body, traceIds);
      return pool.run({ kind: 'without', body, traceIds }, body.bytes.length);
    },
    close: () => pool.close(),
  };
}

/**
 * Reads an export whose declared size is at most `maxBytes`. Null when the declared size is wrong and the inflated body
 * is larger: a worker thread then has to read the export.
 */
function packUpTo(maxBytes: number, sent: SentExport, limits: OtlpLimits): PackedExport | null {
  const bodyBytes = Math.min(limits.bodyBytes, maxBytes);
  try {
    return packExport(sent, { ...limits, bodyBytes });
  } catch (error) {
    const exceedsMaxBytes = error instanceof TooLarge && error.limit === bodyBytes && bodyBytes < limits.bodyBytes;
    if (exceedsMaxBytes) return null;
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
