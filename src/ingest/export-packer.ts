import { availableParallelism } from 'node:os';
import type { Owner } from '../domain/caller.ts';
import { InvalidInput, TooLarge } from '../domain/errors.ts';
import type { Slots } from '../domain/concurrency-limit.ts';
import { DEFAULT_OFFLOAD_BYTES, type OtlpLimits } from '../domain/traces/otlp-limits.ts';
import type { BodyReader, ExportBody, ExportPacker, PackedExport, SentExport } from '../domain/traces/packed.ts';
import { packedOfText, type PackedText } from '../domain/traces/packed-text.ts';
import type { SpanPayload } from '../domain/traces/span.ts';
import { createOneATurn } from '../runtime/tasks/serial-executor.ts';
import { createThreadPool, ownMemory } from '../runtime/tasks/thread-pool.ts';
import { createWaitingRoom } from '../runtime/tasks/work-queue-limit.ts';
import { declaredSize, openedSize, packExport, payloadAt, withoutSpans } from './pack-export.ts';

/** What a thread is asked. */
export type PackingTask =
  | { readonly kind: 'pack'; readonly sent: SentExport }
  | { readonly kind: 'payload'; readonly body: ExportBody; readonly at: number; readonly owner: Owner }
  | { readonly kind: 'without'; readonly body: ExportBody; readonly traceIds: readonly string[] };

export type PackingFailure =
  | { readonly kind: 'too large'; readonly message: string; readonly limit: number }
  | { readonly kind: 'invalid' | 'fault'; readonly message: string };

/** An export as a thread gives it back, with the sender's own bytes where these are kept. */
export interface PackedMessage extends PackedText, Pick<PackedExport, 'body'> {}

/** Up to this size reading one takes some milliseconds, and is no reason to hold a place while others come. */
const PLACELESS_BYTES = 524_288;
const MOST_THREADS = 4;
/** Most that may wait to be read, in exports and in bytes as they were sent. */
const ROOM = { waiting: 256, bytes: 64 << 20 };
/** What one thread may hold: an export that is worse costs that thread, and nobody else. */
const THREAD_HEAP_MIB = 512;

/**
 * Reads exports and opens what is kept of them: small ones at once, those up to the size that is set here as well but in
 * turns of their own, others on threads, as many as there are cores.
 */
export interface TracePacker extends ExportPacker, BodyReader {
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * Large exports hold one of the places of `unpacking` while they are read: what that takes is bounded by their number.
 * When all are held nothing else is taken either.
 */
export function createTracePacker({
  limits,
  unpacking,
  offloadBytes,
}: {
  readonly limits: OtlpLimits;
  readonly unpacking: Slots;
  /** Most bytes of a body that is read here. */
  readonly offloadBytes: number;
}): TracePacker {
  const room = createWaitingRoom(ROOM);
  const here = createOneATurn(room);
  const pool = createThreadPool<PackingTask>({
    module: new URL('./pack-export-worker.ts', import.meta.url),
    workerData: limits,
    // The main thread has a core of its own where there are several.
    threads: Math.min(Math.max(availableParallelism() - 1, 1), MOST_THREADS),
    heapMiB: THREAD_HEAP_MIB,
    room,
    errorFrom: (failure) => errorFrom(failure as PackingFailure),
  });
  return {
    async pack(sent) {
      const done = unpacking.take();
      try {
        const size = declaredSize(sent);
        const atOnce = size <= DEFAULT_OFFLOAD_BYTES;
        if (!atOnce && size <= PLACELESS_BYTES) done();
        if (size <= offloadBytes) {
          const work = (): PackedExport | null => packSmall(sent, limits, offloadBytes);
          const packed = atOnce ? work() : await here.run(work, sent.bytes.length);
          if (packed !== null) return packed;
        }
        const task = { kind: 'pack', sent } as const;
        const packed = await pool.run<PackedMessage>(task, sent.bytes.length, ownMemory(sent.bytes));
        return { body: packed.body, ...packedOfText(packed) };
      } finally {
        done();
      }
    },
    async payload(body, at, owner): Promise<SpanPayload> {
      if (openedSize(body) <= offloadBytes) return payloadAt(body, at, owner, limits.valueBytes);
      return pool.run({ kind: 'payload', body, at, owner }, body.bytes.length);
    },
    async without(body, traceIds): Promise<ExportBody> {
      if (openedSize(body) <= offloadBytes) return withoutSpans(body, traceIds);
      return pool.run({ kind: 'without', body, traceIds }, body.bytes.length);
    },
    close: () => pool.close(),
  };
}

/** Null for a body that turns out to be larger than it declares. */
function packSmall(sent: SentExport, limits: OtlpLimits, mostBytes: number): PackedExport | null {
  const bodyBytes = Math.min(limits.bodyBytes, mostBytes);
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
