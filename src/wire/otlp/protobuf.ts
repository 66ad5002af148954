import { undecodable } from './span-rules.ts';

/**
 * Buffer with its internal slice methods. They skip the argument checks of `toString`, which double the time for a
 * short text.
 */
interface SliceBuffer extends Buffer {
  utf8Slice(start: number, end: number): string;
  hexSlice(start: number, end: number): string;
}

/** Cursor over a protobuf body. No function reads past its `end` argument. */
export interface ProtoCursor {
  readonly bytes: SliceBuffer;
  /** View of the same bytes. It reads 64-bit integers faster than a Buffer, which combines two 32-bit reads. */
  readonly view: DataView;
  /** Offset of the next byte. */
  at: number;
}

/** Cursor at the start of a body. */
export function cursorOver(body: Uint8Array): ProtoCursor {
  const { buffer, byteOffset, byteLength } = body;
  return {
    bytes: Buffer.from(buffer, byteOffset, byteLength) as SliceBuffer,
    view: new DataView(buffer, byteOffset, byteLength),
    at: 0,
  };
}

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_LENGTH = 2;
const WIRE_FIXED32 = 5;

const MAX_VARINT_BYTES = 10;

const truncated = (): Error => undecodable('it ends in the middle of a field');

/** Reads an unsigned varint. Exact up to 2^53, which is enough for tags, lengths, enums and flags. */
export function readVarint(cursor: ProtoCursor, end: number): number {
  const { bytes } = cursor;
  let { at } = cursor;
  let byte = at < end ? (bytes[at] ?? 0) : throwTruncated();
  at++;
  if (byte < 0x80) {
    cursor.at = at;
    return byte;
  }
  let value = byte & 0x7f;
  let factor = 0x80;
  for (let readBytes = 1; readBytes < MAX_VARINT_BYTES; readBytes++) {
    byte = at < end ? (bytes[at] ?? 0) : throwTruncated();
    at++;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) {
      cursor.at = at;
      return value;
    }
    factor *= 0x80;
  }
  throw undecodable('a varint is longer than ten bytes');
}

function throwTruncated(): never {
  throw truncated();
}

/** Reads a signed 64-bit varint: a number when that is exact, else a bigint. */
export function readInt64(cursor: ProtoCursor, end: number): number | bigint {
  const start = cursor.at;
  const unsigned = readVarint(cursor, end);
  if (unsigned <= Number.MAX_SAFE_INTEGER) return unsigned;
  let value = 0n;
  for (let at = start, shift = 0n; at < cursor.at; at++, shift += 7n)
    value |= BigInt((cursor.bytes[at] ?? 0) & 0x7f) << shift;
  const signed = BigInt.asIntN(64, value);
  return signed >= BigInt(Number.MIN_SAFE_INTEGER) && signed <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(signed)
    : signed;
}

/** Reads the length of a field and returns the offset after the field. */
export function readLength(cursor: ProtoCursor, end: number): number {
  const length = readVarint(cursor, end);
  const after = cursor.at + length;
  if (after > end) throw truncated();
  return after;
}

export function readFixed64(cursor: ProtoCursor, end: number): bigint {
  const { at } = cursor;
  if (at + 8 > end) throw truncated();
  cursor.at = at + 8;
  return cursor.view.getBigUint64(at, true);
}

export function readDouble(cursor: ProtoCursor, end: number): number {
  const { at } = cursor;
  if (at + 8 > end) throw truncated();
  cursor.at = at + 8;
  return cursor.view.getFloat64(at, true);
}

/** Reads text up to `after`. Replaces invalid UTF-8, so that one bad value does not reject the export. */
export function readText(cursor: ProtoCursor, after: number): string {
  const { at } = cursor;
  cursor.at = after;
  return at === after ? '' : cursor.bytes.utf8Slice(at, after);
}

/** Reads bytes up to `after` as lower-case hex. */
export function readHex(cursor: ProtoCursor, after: number): string {
  const { at } = cursor;
  cursor.at = after;
  return cursor.bytes.hexSlice(at, after);
}

/** Skips a field. Throws InvalidInput for an invalid field number or wire type, and for a truncated field. */
export function skipField(cursor: ProtoCursor, tag: number, end: number): void {
  // The three lowest bits of a tag are the wire type, the others are the field number. It begins at 1.
  if (tag < 8 || tag > 0xffff_ffff) throw undecodable('a field has an invalid number');
  switch (tag & 7) {
    case WIRE_VARINT:
      readVarint(cursor, end);
      return;
    case WIRE_FIXED64:
      return advance(cursor, 8, end);
    case WIRE_LENGTH:
      cursor.at = readLength(cursor, end);
      return;
    case WIRE_FIXED32:
      return advance(cursor, 4, end);
    default:
      // Groups exist only in proto2. OTLP does not use them.
      throw undecodable('a field has an unknown wire type');
  }
}

function advance(cursor: ProtoCursor, bytes: number, end: number): void {
  if (cursor.at + bytes > end) throw truncated();
  cursor.at += bytes;
}
