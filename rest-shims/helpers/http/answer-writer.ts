import { ReaderStalled } from '../../../src/domain/http.ts';
import { SUCCESS } from '../../errors.ts';
import { HeaderLines } from './header-lines.ts';
import type { Outgoing } from './outgoing.ts';
import type { HttpAnswer, HttpBody } from './route.ts';

/** Watches a stream for idle time. */
interface IdleTimer {
  /** Called for every chunk of the stream. */
  recordActivity(): void;
  stop(): void;
}

/** A comment line of an event stream, which readers ignore. */
export const COMMENT_LINE = Buffer.from(': heartbeat\n\n');

/**
 * Calls `onIdle` when a stream has been idle for a time between half of `ms` and `ms`. The timer counts idle half
 * intervals: a chunk only resets the count, which is cheaper than a new timer.
 */
function startIdleTimer(ms: number, onIdle: () => void): IdleTimer {
  let idleHalfIntervals = 0;
  const timer = setInterval(() => {
    idleHalfIntervals += 1;
    if (idleHalfIntervals < 2) return;
    idleHalfIntervals = 0;
    onIdle();
  }, ms / 2).unref();
  return {
    recordActivity() {
      idleHalfIntervals = 0;
    },
    stop: () => clearInterval(timer),
  };
}

type StreamBody = Extract<HttpBody, { kind: 'stream' }>;

/**
 * Writes an answer. The promise for a stream resolves when the last byte is passed to the response, or the client
 * disconnects. An idle stream sends its heartbeat at least every `heartbeatMs` while the socket is not full, because
 * proxies close idle connections. If `heartbeatMs` is 0, no stream sends heartbeats. If a full socket does not drain
 * within `stallMs`, the client is disconnected and the source of the stream is cancelled.
 */
export function writeAnswer(
  response: Outgoing,
  answer: HttpAnswer,
  heartbeatMs = 0,
  stallMs = STALL_TIMEOUT_MS,
): void | Promise<void> {
  const { body } = answer;
  if (body.kind === 'stream') {
    writeHead(response, answer, null);
    return writeStream(response, body, { heartbeatMs, stallMs });
  }
  const bytes = body.kind === 'json' ? Buffer.from(JSON.stringify(body.value)) : body.bytes;
  writeHead(response, answer, bytes.length);
  endWithBody(response, bytes);
}

/** Maximum size, in bytes, of a body that is copied to text to save a write. */
const MAX_COPIED_BYTES = 16 * 1024;

/**
 * Ends an answer with its whole body. Node joins the head and a text body into one write, but writes bytes separately,
 * which costs more than converting small bodies to text. In latin1 each byte is one character. The fast path joins
 * the head and bytes by itself.
 */
export function endWithBody(response: Outgoing, body: Uint8Array): void {
  const isFastPath = response.writeLines !== undefined;
  if (isFastPath || body.length > MAX_COPIED_BYTES) response.end(body);
  else response.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'), 'latin1');
}

/** Writes status and headers. `length` is the length of the body in bytes; null where it is not known. */
function writeHead(response: Outgoing, answer: HttpAnswer, length: number | null): void {
  const { status = 200, headers, headerLines, body } = answer;
  const lines = headerLines?.copy() ?? new HeaderLines();
  for (const name in headers) lines.addChecked(name, headers[name] ?? '');
  lines.addChecked('content-type', body.kind === 'json' ? 'application/json' : body.contentType);
  // RFC 9110, section 8.6: an answer with status 204 has no `content-length`.
  if (length !== null && status !== SUCCESS.noContent) lines.addLength(length);
  if (response.writeLines === undefined) response.writeHead(status, lines.pairs());
  else response.writeLines(status, lines);
}

/**
 * Time in ms after which a client is disconnected if its full socket does not drain: twice the limit of common reverse
 * proxies. It is long enough for most slow readers, and short enough to release the upstream of a stalled client.
 */
export const STALL_TIMEOUT_MS = 120_000;

/**
 * Relays a stream chunk by chunk. The source is paused while the client's socket is full, and cancelled when the client
 * disconnects or stalls.
 */
function writeStream(
  response: Outgoing,
  body: StreamBody,
  { heartbeatMs, stallMs }: { readonly heartbeatMs: number; readonly stallMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    let isOpen = true;
    let stallTimer: NodeJS.Timeout | undefined;
    let idleTimer: IdleTimer | undefined;
    /** Ends the relay: all bytes are passed to the response, or the connection is closed. */
    const finish = (end: 'written' | 'abandoned'): void => {
      if (!isOpen) return;
      isOpen = false;
      idleTimer?.stop();
      // If the last bytes fill the socket, the stall timer still runs: it stops when the connection closes.
      if (end === 'abandoned') clearTimeout(stallTimer);
      else if (stallTimer !== undefined) response.once('close', () => clearTimeout(stallTimer));
      response.off('drain', onDrain).off('close', onClose);
      resolve();
    };
    const onDrain = (): void => {
      clearTimeout(stallTimer);
      stallTimer = undefined;
      body.stream.resume();
    };
    const onClose = (): void => {
      body.stream.cancel();
      finish('abandoned');
    };
    /** Ends a stream that fails after its head was sent. */
    const endWithFailure = (error: Error): void => {
      const lastEvent = body.failureEvent(error);
      if (lastEvent === null) response.destroy();
      else response.end(lastEvent);
      finish('written');
    };
    response.on('drain', onDrain).on('close', onClose);
    const abort = (failure: Error): void => {
      if (!isOpen) return;
      body.stream.cancel(failure);
      endWithFailure(failure);
    };
    response.abort = abort;
    /** Returns false if the socket is full. */
    const send = (bytes: Uint8Array): boolean => {
      const hasRoom = response.write(bytes);
      if (!hasRoom) stallTimer ??= setTimeout(() => response.destroy(), stallMs).unref();
      return hasRoom;
    };
    const { heartbeat } = body;
    if (heartbeat && heartbeatMs > 0) {
      idleTimer = startIdleTimer(heartbeatMs, () => {
        const isSocketFull = stallTimer !== undefined;
        if (!isSocketFull) send(heartbeat);
      });
    }
    body.stream.pipe({
      chunk(bytes) {
        if (!isOpen) return false;
        idleTimer?.recordActivity();
        return send(bytes);
      },
      done() {
        if (!isOpen) return;
        response.end();
        finish('written');
      },
      fail(error) {
        if (!isOpen) return;
        if (error instanceof ReaderStalled) return void response.destroy();
        endWithFailure(error);
      },
    });
    // Sends the headers if no chunk was written.
    if (isOpen) response.flushHeaders();
  });
}
