import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { HttpClient } from '../../domain/http.ts';
import type { ExportedSpan } from '../../domain/traces/exported-span.ts';
import type { SpanExport } from '../../domain/traces/span-export.ts';
import { createSampledWarnings, type Log } from './log.ts';
import type { OtlpExportSettings } from '../settings/otlp-export.ts';
import { createExportRequest, type ExportFormat } from './span-export-request.ts';

/** Maximum number of queued spans, and maximum sum of their bytes. Further spans are dropped and counted. */
const QUEUE = { spans: 4_096, bytes: 32 * 1024 * 1024 } as const;
/** Maximum spans of one request. */
const BATCH_SPANS = 512;
/** Maximum bytes of one request. A larger span is sent alone: collectors accept 4 MiB and more. */
const BATCH_BYTES = 2 * 1024 * 1024;
/** Assumed bytes of a span without its texts. */
const SPAN_BYTES = 512;
/** Assumed bytes of an attribute value that is not a text. */
const VALUE_BYTES = 16;
/** Maximum attempts for one request. */
const MAX_ATTEMPTS = 6;

/** Delays, in ms. */
export interface ExportTiming {
  /** How long spans are collected, unless they fill a batch. */
  readonly gatherMs: number;
  /** First retry delay, doubled for each further one up to `maxRetryMs`. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
}

const TIMING: ExportTiming = { gatherMs: 1_000, retryMs: 1_000, maxRetryMs: 30_000 };

const pack = promisify(gzip);

/**
 * Sends spans to a collector over OTLP/HTTP: in batches, one request at a time, queued in memory only. Retryable
 * failures are retried after the collector's `Retry-After`, else with backoff. The queue is bounded. No call waits for
 * an export.
 */
export function createSpanExporter(options: {
  readonly settings: OtlpExportSettings;
  readonly http: Pick<HttpClient, 'post'>;
  readonly format: ExportFormat;
  readonly log: Pick<Log, 'warn'>;
  readonly timing?: ExportTiming;
  /** Maximum number of waiting spans, and maximum sum of their bytes. */
  readonly queue?: { readonly spans: number; readonly bytes: number };
}): SpanExport {
  const { settings, http, format, log, timing = TIMING, queue = QUEUE } = options;
  const warn = createSampledWarnings(log, { sample: 1, windowMs: 60_000 });
  const counts = { sent: 0, dropped: 0, failed: 0 };
  let waiting: ExportedSpan[] = [];
  let waitingBytes = 0;
  /** Number of spans in the batch that is being sent. */
  let sending = 0;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let closing = false;
  const abort = new AbortController();
  /** Ends the running pause; null while none runs. */
  let wake: (() => void) | null = null;
  /** Whether the next pause ends immediately. */
  let endsNextPause = false;
  const send = createExportRequest({ settings, http, format, abortSignal: abort.signal });

  /** Waits for a retry. `skipPause` ends the wait. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const endPause = (): void => {
        wake = null;
        endsNextPause = false;
        clearTimeout(timeout);
        resolve();
      };
      const timeout = setTimeout(endPause, ms);
      wake = endPause;
      if (endsNextPause) endPause();
    });
  }

  /** Ends the running pause, else the next one. */
  function skipPause(): void {
    endsNextPause = true;
    wake?.();
  }

  async function deliver(spans: readonly ExportedSpan[]): Promise<void> {
    const { contentType, body } = format.encode(spans);
    const bytes = settings.gzip ? await pack(body) : body;
    for (let tries = 1; ; tries++) {
      const tried = await send(bytes, contentType);
      if (tried.outcome === 'sent') {
        const rejected = Math.min(tried.rejected, spans.length);
        counts.sent += spans.length - rejected;
        counts.failed += rejected;
        if (rejected > 0) warn('rejected', () => ({ rejected, reason: tried.message }), 'the collector rejected spans');
        return;
      }
      if (tried.outcome === 'never' || tries === MAX_ATTEMPTS || abort.signal.aborted) {
        counts.failed += spans.length;
        warn('failed', () => ({ spans: spans.length, reason: tried.reason }), 'spans could not be exported');
        return;
      }
      const doubledMs = Math.min(timing.retryMs * 2 ** (tries - 1), timing.maxRetryMs);
      // Jitter, so that not all processes retry at the same time.
      const backoffMs = doubledMs * (0.5 + Math.random() / 2);
      await pause(Math.min(tried.afterMs ?? backoffMs, timing.maxRetryMs));
    }
  }

  function nextBatch(): readonly ExportedSpan[] {
    let bytes = 0;
    const end = waiting.findIndex((span, place) => {
      bytes += weightOf(span);
      return place === BATCH_SPANS || (place > 0 && bytes > BATCH_BYTES);
    });
    const batch = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    for (const span of batch) waitingBytes -= weightOf(span);
    return batch;
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = nextBatch();
      sending = batch.length;
      try {
        await deliver(batch);
      } catch (error) {
        counts.failed += batch.length;
        warn('encoding', () => ({ err: error, spans: batch.length }), 'spans could not be encoded for export');
      }
      sending = 0;
    }
  }

  function start(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= sendAll().finally(() => {
      running = null;
      schedule();
    });
    return running;
  }

  function schedule(): void {
    if (timer || running || closing || waiting.length === 0) return;
    timer = setTimeout(() => void start(), waiting.length >= BATCH_SPANS ? 0 : timing.gatherMs);
    timer.unref();
  }

  function drop(): void {
    counts.dropped += 1;
    warn('dropped', () => ({ dropped: counts.dropped }), 'spans are not exported: too many wait for the collector');
  }

  return {
    push(span) {
      const bytes = weightOf(span);
      if (closing || waiting.length >= queue.spans || waitingBytes + bytes > queue.bytes) return drop();
      waiting.push(span);
      waitingBytes += bytes;
      // A full batch does not wait for `gatherMs`: `schedule` sets a timer of 0 ms for it.
      if (waiting.length === BATCH_SPANS && timer) {
        clearTimeout(timer);
        timer = null;
      }
      schedule();
    },
    counts: () => ({ ...counts, waiting: waiting.length + sending }),
    async drain(withinMs) {
      closing = true;
      skipPause();
      const deadline = setTimeout(() => {
        abort.abort();
        skipPause();
      }, withinMs);
      while (running || (waiting.length > 0 && !abort.signal.aborted)) await start();
      clearTimeout(deadline);
      counts.failed += waiting.length;
      waiting = [];
    },
  };
}

/** Approximate bytes of a span. */
function weightOf({ attributes, statusMessage }: ExportedSpan): number {
  let bytes = SPAN_BYTES + statusMessage.length;
  for (const key in attributes) {
    const value = attributes[key];
    bytes += key.length + (typeof value === 'string' ? value.length : VALUE_BYTES);
  }
  return bytes;
}
