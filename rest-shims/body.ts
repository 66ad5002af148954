import { TooLarge, Unavailable } from '../src/domain/errors.ts';
import type { Incoming } from './outgoing.ts';

/** What a request without a body carries, and all that is taken of one that should have none. */
export const NO_BODY = new Uint8Array(0);
const MEGABYTE = 1024 * 1024;

const megabytes = (bytes: number): string => String(Number((bytes / MEGABYTE).toFixed(2)));

function tooLarge(size: number, limit: number): TooLarge {
  return new TooLarge(
    `Request size is too large. Request size is ${megabytes(size)} MB. Max size is ${megabytes(limit)} MB`,
    limit,
  );
}

/** The client went away before its request was complete; nobody is left to answer. */
export class RequestAborted extends Error {
  constructor() {
    super('The client left before its request was complete.');
    this.name = 'RequestAborted';
  }
}

/**
 * Reads a request body whole, up to `limit` bytes as received. A declared length over the limit is refused
 * before a byte is read, an undeclared one as soon as it is crossed; the rest is then discarded. One that has not
 * come whole within `withinMs` is given up as Unavailable: whoever sends so slowly is asked to come again.
 */
export function readBody(request: Incoming, limit: number, withinMs?: number): Uint8Array | Promise<Uint8Array> {
  if ('whole' in request) {
    if (request.whole.length > limit) throw tooLarge(request.whole.length, limit);
    return request.whole;
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
        reject(new Unavailable('The body took too long to come.'));
      };
      const timer = setTimeout(late, withinMs).unref();
      request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer));
    }
    // The listeners stay: to take them off costs every request as much as reading it, and a promise settles once.
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
    // Without a listener for errors, Node tells of a request that broke off by closing it alone.
    request.on('close', () => {
      if (request.readableEnded) return;
      gathered.drop();
      reject(new RequestAborted());
    });
  });
}

/** Bodies up to this many bytes may be held twice for the moment in which they are joined. */
const SMALL = MEGABYTE;

/** Joins chunks to a body. What it was given is let go once it has given the whole. */
interface Gathering {
  add(chunk: Buffer): void;
  whole(): Buffer;
  drop(): void;
}

/**
 * A large body of a declared length is put together as it comes, so that it is in memory once. The room for it is
 * taken when half of it is there: before that, a client could have us take any amount by a header alone.
 */
function gathering(declared: number): Gathering {
  let chunks: Buffer[] = [];
  let size = 0;
  let room: Buffer | null = null;
  const isLarge = declared > SMALL;
  return {
    add(chunk) {
      if (room === null) chunks.push(chunk);
      else chunk.copy(room, size);
      size += chunk.length;
      if (!isLarge || room !== null || size * 2 < declared) return;
      room = Buffer.allocUnsafeSlow(declared);
      let at = 0;
      for (const held of chunks) at += held.copy(room, at);
      chunks = [];
    },
    whole() {
      const [only] = chunks;
      const body = room?.subarray(0, size) ?? (chunks.length === 1 && only ? only : Buffer.concat(chunks));
      this.drop();
      return body;
    },
    drop() {
      chunks = [];
      room = null;
    },
  };
}
