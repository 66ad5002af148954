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
    let chunks: Buffer[] = [];
    let size = 0;
    if (withinMs !== undefined) {
      const late = (): void => {
        chunks = [];
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
        chunks.push(chunk);
        return;
      }
      chunks = [];
      reject(tooLarge(size, limit));
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    // Without a listener for errors, Node tells of a request that broke off by closing it alone.
    request.on('close', () => {
      if (!request.readableEnded) reject(new RequestAborted());
    });
  });
}
