import { inflateRawSync } from 'node:zlib';

// The numbers in this file are signatures, methods, offsets and sizes of the zip format (APPNOTE.TXT, section 4.3).
const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const STORED = 0;
const DEFLATED = 8;

/** Largest end record: 22 bytes and a comment. */
const MAX_END_RECORD_BYTES = 22 + 0xffff;

/** Offset of the record at the end of an archive, which locates its directory. */
function endOfDirectory(archive: Buffer): number {
  const firstOffset = Math.max(0, archive.length - MAX_END_RECORD_BYTES);
  for (let at = archive.length - 22; at >= firstOffset; at -= 1) {
    if (archive.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new Error('The file is not a zip archive.');
}

/**
 * The first file of a zip archive (such as a Python wheel) whose name has this ending; null for none.
 * Archives above 4 GB are not supported.
 */
export function zipEntry(archive: Buffer, nameEnd: string): { readonly name: string; readonly bytes: Buffer } | null {
  const end = endOfDirectory(archive);
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('The directory of the zip archive is invalid.');
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (name.endsWith(nameEnd)) return { name, bytes: contentAt(archive, at) };
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return null;
}

/** Content of the file whose directory entry is at an offset. */
function contentAt(archive: Buffer, entryOffset: number): Buffer {
  const method = archive.readUInt16LE(entryOffset + 10);
  const size = archive.readUInt32LE(entryOffset + 20);
  const localHeader = archive.readUInt32LE(entryOffset + 42);
  const start = localHeader + 30 + archive.readUInt16LE(localHeader + 26) + archive.readUInt16LE(localHeader + 28);
  const packed = archive.subarray(start, start + size);
  if (method === STORED) return packed;
  if (method === DEFLATED) return inflateRawSync(packed);
  throw new Error(`The zip archive uses compression method ${method}, which is not supported.`);
}
