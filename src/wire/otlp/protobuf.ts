import { undecodable } from './limits.ts';

/** A Buffer with its unchecked slices; `toString` spends as long on its arguments as on a short text. */
interface SliceBuffer extends Buffer {
  utf8Slice(start: number, end: number): string;
  hexSlice(start: number, end: number): string;
}

/** Where a protobuf body is being read. Nothing is read past the `end` each function is given. */
export interface ProtoCursor {
  readonly bytes: SliceBuffer;
  /** The same bytes: reads a whole 64-bit integer at once, where a Buffer puts it together out of two. */
  readonly view: DataView;
  at: number;
}

/** Starts reading a body. */
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

/** An unsigned varint; exact up to 2^53, which covers tags, lengths, enums and flags. */
export function readVarint(cursor: ProtoCursor, end: number): number {
  const { bytes } = cursor;
  let { at } = cursor;
  let byte = at < end ? (bytes[at++] ?? 0) : endOfField();
  if (byte < 0x80) {
    cursor.at = at;
    return byte;
  }
  let value = byte & 0x7f;
  let factor = 0x80;
  for (let read = 1; read < MAX_VARINT_BYTES; read++) {
    byte = at < end ? (bytes[at++] ?? 0) : endOfField();
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) {
      cursor.at = at;
      return value;
    }
    factor *= 0x80;
  }
  throw undecodable('a varint is longer than ten bytes');
}

function endOfField(): never {
  throw truncated();
}

/** A signed 64-bit varint: a number when that is exact, else a bigint. */
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

/** Reads the length of what follows and gives where it ends. */
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

/** Text up to `after`; bytes that are not UTF-8 are replaced, because one odd value must not cost a span. */
export function readText(cursor: ProtoCursor, after: number): string {
  const { at } = cursor;
  cursor.at = after;
  return at === after ? '' : cursor.bytes.utf8Slice(at, after);
}

/** Bytes up to `after` as lower-case hex. */
export function readHex(cursor: ProtoCursor, after: number): string {
  const { at } = cursor;
  cursor.at = after;
  return cursor.bytes.hexSlice(at, after);
}

/** Steps over a field we do not read. */
export function skipField(cursor: ProtoCursor, tag: number, end: number): void {
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
      // Groups went away with proto2; OTLP never had them.
      throw undecodable('a field has an unknown wire type');
  }
}

function advance(cursor: ProtoCursor, bytes: number, end: number): void {
  if (cursor.at + bytes > end) throw truncated();
  cursor.at += bytes;
}
