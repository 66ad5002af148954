import { TooLarge, Unavailable } from '../../../src/domain/errors.ts';
import { GatheredBytes } from '../../../src/domain/gathered-bytes.ts';
import type { Incoming } from './outgoing.ts';

/** The body of a request without one. Bodies of methods that have none are ignored. */
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
 * Longest time, in ms, that a small body or a body without a known key may take to arrive. Larger bodies of known keys
 * have `requestTimeout` of the HTTP server.
 */
export const SMALL_BODY_MS = 30_000;

/** The body did not arrive in time. The connection closes after the answer, because the rest of the body is not read. */
export class BodyTimeout extends Unavailable {
  constructor() {
    super('The body took too long to arrive.');
    this.name = 'BodyTimeout';
  }
}

/** The client left before its request was complete. There is no answer. */
export class RequestAborted extends Error {
  constructor() {
    super('The client left before its request was complete.');
    this.name = 'RequestAborted';
  }
}

/**
 * Reads a request body whole, up to `limit` bytes as received. A declared length over the limit is refused
 * before a byte is read, an undeclared one as soon as it is crossed; the rest is then discarded. Throws BodyTimeout when
 * the body is not complete after `withinMs`.
 */
export function readBody(request: Incoming, limit: number, withinMs?: number): Uint8Array | Promise<Uint8Array> {
  if ('whole' in request) {
    if (request.whole.length > limit) throw tooLarge(request.whole.length, limit);
    return request.whole;
  }
  if ('arriving' in request) {
    const { arriving } = request;
    if (arriving.length > limit) throw tooLarge(arriving.length, limit);
    return arriving.read();
  }
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > limit) {
    request.resume();
    throw tooLarge(declared, limit);
  }
  if (declared === 0 || (Number.isNaN(declared) && request.headers['transfer-encoding'] === undefined)) return NO_BODY;
  return new Promise((resolve, reject) => {
    const gathered = gathering(declared);
    let size = 0;
    if (withinMs !== undefined) {
      const late = (): void => {
        gathered.drop();
        size = Infinity;
        reject(new BodyTimeout());
      };
      const timer = setTimeout(late, withinMs).unref();
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

/** Bodies up to this many bytes may be in memory twice while their chunks are joined. */
const SMALL = MEGABYTE;

/** Joins the chunks of a body. */
interface Gathering {
  add(chunk: Buffer): void;
  /** Gives the body and releases it here. */
  whole(): Uint8Array;
  drop(): void;
}

/**
 * A large body of a declared length is joined while it arrives, so that it is in memory once. Its buffer is allocated when
 * half of it has arrived: a declared length alone must not allocate memory.
 */
function gathering(declared: number): Gathering {
  const gathered = new GatheredBytes();
  let room: Buffer | null = null;
  let size = 0;
  const isLarge = declared > SMALL;
  return {
    add(chunk) {
      if (room === null) gathered.add(chunk);
      else chunk.copy(room, size);
      size += chunk.length;
      if (!isLarge || room !== null || size * 2 < declared) return;
      room = Buffer.allocUnsafeSlow(declared);
      gathered.copyTo(room);
      gathered.drop();
    },
    whole() {
      const body = room?.subarray(0, size) ?? gathered.take();
      this.drop();
      return body;
    },
    drop() {
      gathered.drop();
      room = null;
    },
  };
}
