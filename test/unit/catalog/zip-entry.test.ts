import { describe, expect, it } from 'vitest';
import { deflateRawSync } from 'node:zlib';
import { zipEntry } from '../../../scripts/zip-entry.ts';

/**
 * A zip archive with zeros in all fields that are not read. Compression method 0 is stored, 8 is deflated, and 12 is
 * bzip2. Each file has an extra field of 4 bytes before its content, and the archive ends with a comment of 7 bytes.
 */
function zip(files: readonly { readonly name: string; readonly text: string; readonly method: 0 | 8 | 12 }[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, text, method } of files) {
    const packed = method === 8 ? deflateRawSync(text) : Buffer.from(text);
    // Signatures and offsets are those of the zip format.
    const local = Buffer.alloc(30 + 4);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(4, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    const written = Buffer.concat([local.subarray(0, 30), Buffer.from(name), local.subarray(30), packed]);
    locals.push(written);
    directory.push(entry, Buffer.from(name));
    offset += written.length;
  }
  const end = Buffer.alloc(22 + 7);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

describe('a file in a zip archive', () => {
  const archive = zip([
    { name: 'a/one.txt', text: 'stored', method: 0 },
    { name: 'a/two.txt', text: 'deflated '.repeat(50), method: 8 },
    { name: 'bzip2.txt', text: 'x', method: 12 },
  ]);
  it('is found by the end of its name', () => {
    expect(zipEntry(archive, 'one.txt')?.bytes.toString()).toBe('stored');
    expect(zipEntry(archive, 'two.txt')?.bytes.toString()).toBe('deflated '.repeat(50));
    expect(zipEntry(archive, 'three.txt')).toBeNull();
  });
  it('is refused with another compression method, or when the bytes are not an archive', () => {
    expect(() => zipEntry(archive, 'bzip2.txt')).toThrow('compression method 12');
    expect(() => zipEntry(Buffer.from('{}'), 'x')).toThrow('The file is not a zip archive.');
  });
});
