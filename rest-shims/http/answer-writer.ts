import { ReaderStalled } from '../../src/domain/http.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import type { Outgoing } from './outgoing.ts';
import type { HttpAnswer, HttpBody } from './route.ts';

type StreamBody = Extract<HttpBody, { kind: 'stream' }>;

/**
 * Writes an answer; resolves when its last byte is handed to the socket or the client has left. A stream that has a
 * heartbeat is given one whenever it is silent for `heartbeatMs`; 0 gives none. A client that leaves the socket full for
 * `stallMs` is cut, together with the source of the stream.
 */
export function writeAnswer(
  response: Outgoing,
  answer: HttpAnswer,
  heartbeatMs = 0,
  stallMs = STALLED_MS,
): void | Promise<void> {
  const { body } = answer;
  const head = headOf(answer);
  if (body.kind === 'stream') {
    response.writeHead(answer.status ?? 200, head);
    return writeStream(response, body, { heartbeatMs, stallMs });
  }
  const bytes = body.kind === 'json' ? Buffer.from(JSON.stringify(body.value)) : body.bytes;
  head.push('content-length', String(bytes.length));
  response.writeHead(answer.status ?? 200, head);
  endWith(response, bytes);
}

/** Most bytes that are worth a copy. */
const SMALL = 16 * 1024;

/**
 * Ends an answer with its whole body. Node joins a head with text to one write, but bytes it writes beside it, which
 * costs more than to make small bytes such text: in latin1 each byte is one character.
 */
export function endWith(response: Outgoing, body: Uint8Array): void {
  if (body.length > SMALL) response.end(body);
  else response.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'), 'latin1');
}

/** Names and values in turn, the form that Node writes without looking each name up. */
function headOf({ headers, head: further = [], body }: HttpAnswer): string[] {
  const head = [...further];
  for (const name in headers) head.push(name, headers[name] ?? '');
  head.push('content-type', body.kind === 'json' ? 'application/json' : body.contentType);
  return head;
}

/**
 * How long a client may leave a full socket unread before it is cut. Twice what common reverse proxies allow: a slow
 * reader has taken some bytes by then, and an abandoned one does not hold its upstream for long.
 */
export const STALLED_MS = 120_000;

/**
 * Relays a stream: every chunk as it comes, the source paused while the client's socket is full and cancelled when the
 * client leaves or stalls.
 */
function writeStream(
  response: Outgoing,
  body: StreamBody,
  { heartbeatMs, stallMs }: { readonly heartbeatMs: number; readonly stallMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    let open = true;
    let stalled: NodeJS.Timeout | undefined;
    let heartbeat: Heartbeat | undefined;
    const finish = (end: 'completed' | 'failed' | 'abandoned', failure?: Error): void => {
      if (!open) return;
      open = false;
      heartbeat?.stop();
      // What is written last has to be taken in time, too.
      if (end === 'abandoned') clearTimeout(stalled);
      else if (stalled !== undefined) response.once('close', () => clearTimeout(stalled));
      response.off('drain', onDrain).off('close', onClose);
      body.ended(end, failure);
      resolve();
    };
    const onDrain = (): void => {
      clearTimeout(stalled);
      stalled = undefined;
      body.stream.resume();
    };
    const onClose = (): void => {
      body.stream.cancel();
      finish('abandoned');
    };
    /** Ends a stream that fails after its head was sent. */
    const fail = (error: Error): void => {
      const words = body.lastWords(error);
      if (words === null) response.destroy();
      else response.end(words);
      finish('failed', error);
    };
    response.on('drain', onDrain).on('close', onClose);
    response.cut = (failure) => {
      if (!open) return;
      body.stream.cancel();
      fail(failure);
    };
    const send = (bytes: Uint8Array): boolean => {
      const more = response.write(bytes);
      if (!more) stalled ??= setTimeout(() => response.destroy(), stallMs).unref();
      return more;
    };
    const { heartbeat: sign } = body;
    if (sign && heartbeatMs > 0) {
      // A client that does not read would only be sent more that it does not read.
      heartbeat = startHeartbeat(heartbeatMs, () => void (stalled === undefined && send(sign)));
    }
    body.stream.pipe({
      chunk(bytes) {
        if (!open) return false;
        heartbeat?.heard();
        return send(bytes);
      },
      done() {
        if (!open) return;
        response.end();
        finish('completed');
      },
      fail(error) {
        if (!open) return;
        if (error instanceof ReaderStalled) return void response.destroy();
        fail(error);
      },
    });
    // What has come already took the head along; what has not may take its time, which the head must not.
    if (open) response.flushHeaders();
  });
}
