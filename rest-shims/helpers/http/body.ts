import { TooLarge, Unavailable } from '../../../src/domain/errors.ts';
import { GatheredBytes } from '../../../src/domain/gathered-bytes.ts';
import type { ArrivingBody, Incoming } from './outgoing.ts';

/** Empty body. Also stands for the body of a GET request, which is not read. */
export const NO_BODY = new Uint8Array(0);
const MEGABYTE = 1024 * 1024;

const megabytes = (bytes: number): string => String(Number((bytes / MEGABYTE).toFixed(2)));

function tooLarge(size: number, limit: number): TooLarge {
  return new TooLarge(
    `Request size is too large. Request size is ${megabytes(size)} MB. Max size is ${megabytes(limit)} MB`,
    limit,
  );
}

/**
 * Upload deadline in ms of graph requests, of bodies on the fast path, and of bodies on rows that require no key. Other
 * bodies have the deadline of their row, or `requestTimeout` of the HTTP server.
 */
export const SMALL_BODY_TIMEOUT_MS = 30_000;

/** A body that is not complete within its deadline. The rest is dropped: the connection closes after the answer. */
export class BodyTimeout extends Unavailable {
  constructor() {
    super('The body took too long to arrive.');
    this.name = 'BodyTimeout';
  }
}

/**
 * The client disconnected before its request was complete, or its body arrived too slowly on the fast path for a row
 * without a deadline. The row sends no answer: the fast path itself answers the slow client with 408.
 */
export class RequestAborted extends Error {
  constructor() {
    super('The client disconnected before its request was complete.');
    this.name = 'RequestAborted';
  }
}

/**
 * Reads a request body, up to `limit` bytes as received. Throws TooLarge before reading when `Content-Length` exceeds
 * the limit. Rejects with TooLarge when a chunked body exceeds it, and discards the rest. Rejects with BodyTimeout when
 * a body is not complete after `withinMs`. Rejects with RequestAborted when the client disconnects, or when it is too
 * slow on the fast path and `withinMs` is undefined.
 */
export function readBody(request: Incoming, limit: number, withinMs?: number): Uint8Array | Promise<Uint8Array> {
  // On the fast path, the body is whole or still arriving. Otherwise it is a stream of Node's HTTP server.
  if ('whole' in request) {
    if (request.whole.length > limit) throw tooLarge(request.whole.length, limit);
    return request.whole;
  }
  if ('arriving' in request) {
    const { arriving } = request;
    if (arriving.length > limit) throw tooLarge(arriving.length, limit);
    return withinMs === undefined ? arriving.read() : readWithin(arriving, withinMs);
  }
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > limit) {
    request.resume();
    throw tooLarge(declared, limit);
  }
  const hasNoLength = Number.isNaN(declared);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  if (declared === 0 || (hasNoLength && !isChunked)) return NO_BODY;
  return new Promise((resolve, reject) => {
    const gathered = createBodyBuffer(declared);
    let size = 0;
    if (withinMs !== undefined) {
      const onDeadline = (): void => {
        gathered.drop();
        // Later chunks are dropped.
        size = Infinity;
        reject(new BodyTimeout());
      };
      const timer = setTimeout(onDeadline, withinMs).unref();
      request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer));
    }
    // The listeners are not removed: that costs as much as reading a small body, and a promise settles once.
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        gathered.add(chunk);
        return;
      }
      gathered.drop();
      reject(tooLarge(size, limit));
    });
    request.on('end', () => resolve(gathered.whole()));
    // Without an `error` listener, Node reports an aborted request by `close` only.
    request.on('close', () => {
      if (request.readableEnded) return;
      gathered.drop();
      reject(new RequestAborted());
    });
  });
}

/** Reads a body on the fast path. The row answers after its deadline, which ends before that of the fast path. */
async function readWithin(arriving: ArrivingBody, withinMs: number): Promise<Uint8Array> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(new BodyTimeout()), withinMs).unref();
  try {
    return await Promise.race([arriving.read(), deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Bodies with a declared length above this size, in bytes, are copied to one buffer while they arrive. Joining their
 * chunks at the end would need memory for two copies.
 */
const LARGE_BODY_BYTES = MEGABYTE;

/** Joins the chunks of a body. `drop` releases the chunks. */
interface BodyBuffer {
  add(chunk: Buffer): void;
  /** Returns the body and releases the chunks. */
  whole(): Uint8Array;
  drop(): void;
}

/**
 * `declared` is the length of the body in bytes; NaN when it is unknown. A large body of a declared length gets one
 * buffer when half of it is read: a declared length alone must not allocate memory.
 */
function createBodyBuffer(declared: number): BodyBuffer {
  const gathered = new GatheredBytes();
  let buffer: Buffer | null = null;
  let size = 0;
  const isLarge = declared > LARGE_BODY_BYTES;
  return {
    add(chunk) {
      if (buffer === null) gathered.add(chunk);
      else chunk.copy(buffer, size);
      size += chunk.length;
      const isHalfRead = size * 2 >= declared;
      if (!isLarge || !isHalfRead || buffer !== null) return;
      buffer = Buffer.allocUnsafeSlow(declared);
      gathered.copyTo(buffer);
      gathered.drop();
    },
    whole() {
      const body = buffer?.subarray(0, size) ?? gathered.take();
      this.drop();
      return body;
    },
    drop() {
      gathered.drop();
      buffer = null;
    },
  };
}
