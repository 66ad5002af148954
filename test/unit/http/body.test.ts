import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody, RequestAborted } from '../../../rest-shims/helpers/http/body.ts';
import { TooLarge } from '../../../src/domain/errors.ts';
import { randomFrom } from '../../support/random.ts';

const MIB = 1024 * 1024;

/** A request whose body the test writes. */
function aRequest(headers: Record<string, string>): { request: IncomingMessage; body: PassThrough } {
  const body = new PassThrough({ highWaterMark: 64 * MIB });
  return { request: Object.assign(body, { headers }) as unknown as IncomingMessage, body };
}

const bytesOf = (length: number, seed: number): Buffer => {
  const random = randomFrom(seed);
  return Buffer.from(Uint8Array.from({ length }, () => random(256)));
};

describe('a body', () => {
  it.each([
    ['of 10 kB with a content-length', 10_000, true],
    ['of 10 kB in chunks', 10_000, false],
    ['above 3 MiB with a content-length', 3 * MIB + 1, true],
    ['above 3 MiB in chunks', 3 * MIB + 1, false],
  ])('%s is read completely, for any chunk boundaries', async (_what, length, hasLength) => {
    const content = bytesOf(length, length);
    for (let seed = 1; seed <= 5; seed += 1) {
      const random = randomFrom(seed);
      const headers = hasLength ? { 'content-length': String(length) } : { 'transfer-encoding': 'chunked' };
      const { request, body } = aRequest(headers);
      const read = readBody(request, 4 * MIB);
      for (let offset = 0; offset < length;) {
        const end = Math.min(length, offset + 1 + random(seed === 1 ? length : 70_000));
        body.write(content.subarray(offset, end));
        offset = end;
      }
      body.end();
      expect(content.equals(await read)).toBe(true);
    }
  });

  it.each([
    [2 * MIB, { 'transfer-encoding': 'chunked' }],
    [2 * MIB, { 'content-length': String(MIB) }],
  ])('with %i bytes and the headers %j is refused above a limit of 1 MiB', async (length, headers) => {
    const { request, body } = aRequest(headers);
    const read = Promise.resolve(readBody(request, MIB));
    body.end(Buffer.alloc(length));
    await expect(read).rejects.toThrow(
      new TooLarge('Request size is too large. Request size is 2 MB. Max size is 1 MB', MIB),
    );
  });

  it('that ends early rejects with RequestAborted', async () => {
    const { request, body } = aRequest({ 'content-length': String(3 * MIB) });
    const read = Promise.resolve(readBody(request, 4 * MIB));
    body.write(Buffer.alloc(2 * MIB));
    setImmediate(() => body.destroy());
    await expect(read).rejects.toThrow(RequestAborted);
  });
});
