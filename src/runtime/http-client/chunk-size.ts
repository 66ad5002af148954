import { MalformedResponse } from './faults.ts';

/** Maximum digits of the size of a chunk. */
const MAX_DIGITS = 12;
const LINE = /^([0-9a-fA-F]{1,12})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/** Size in the line before a chunk, with any extensions. Throws MalformedResponse. */
export function sizeIn(line: string): number {
  const size = LINE.exec(line)?.[1];
  if (size === undefined) throw new MalformedResponse('CHUNK_SIZE');
  return Number.parseInt(size, 16);
}

/** Offset after the digits of a size that begins at `from`. */
export function endOfDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (at - from < MAX_DIGITS && hexValue(bytes[at]) !== -1) at += 1;
  return at;
}

/** Number that the digits between two offsets write. */
export function sizeOfDigits(bytes: Buffer, from: number, to: number): number {
  let size = 0;
  for (let at = from; at < to; at += 1) size = size * 16 + hexValue(bytes[at]);
  return size;
}

/** Value of a hexadecimal digit in ASCII; -1 for any other byte and for none. */
function hexValue(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lowerCase = byte | 0x20;
  return lowerCase >= 0x61 && lowerCase <= 0x66 ? lowerCase - 0x57 : -1;
}
