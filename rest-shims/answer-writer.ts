import type { ServerResponse } from 'node:http';
import type { HttpAnswer, HttpBody } from './route.ts';

type StreamBody = Extract<HttpBody, { kind: 'stream' }>;

/** Writes an answer; resolves when its last byte is handed to the socket or the client has left. */
export function writeAnswer(response: ServerResponse, answer: HttpAnswer): void | Promise<void> {
  const { body } = answer;
  response.statusCode = answer.status ?? 200;
  for (const name in answer.headers) response.setHeader(name, answer.headers[name] ?? '');
  if (body.kind === 'stream') return writeStream(response, body);
  const bytes = body.kind === 'json' ? Buffer.from(JSON.stringify(body.value)) : body.bytes;
  response.setHeader('content-type', body.kind === 'json' ? 'application/json' : body.contentType);
  response.setHeader('content-length', bytes.length);
  response.end(bytes);
}

/** How long a client may leave a full socket unread before it counts as gone. */
export const STALLED_MS = 300_000;

/**
 * Relays a stream: every chunk as it comes, the source paused while the client's socket is full and
 * cancelled the moment the client leaves, or has not read for so long that it must be gone.
 */
function writeStream(response: ServerResponse, body: StreamBody): Promise<void> {
  response.setHeader('content-type', body.contentType);
  return new Promise((resolve) => {
    let open = true;
    let stalled: NodeJS.Timeout | undefined;
    const finish = (end: 'completed' | 'failed' | 'abandoned', failure?: Error): void => {
      if (!open) return;
      open = false;
      clearTimeout(stalled);
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
    response.on('drain', onDrain).on('close', onClose);
    response.flushHeaders();
    body.stream.pipe({
      chunk(bytes) {
        if (!open) return false;
        const more = response.write(bytes);
        if (!more) stalled ??= setTimeout(() => response.destroy(), STALLED_MS).unref();
        return more;
      },
      done() {
        if (!open) return;
        response.end();
        finish('completed');
      },
      fail(error) {
        if (!open) return;
        response.end(body.lastWords(error));
        finish('failed', error);
      },
    });
  });
}
