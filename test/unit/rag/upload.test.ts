import { describe, expect, it } from 'vitest';
import { checkedUpload, MAX_UPLOAD_BYTES, UploadRefused } from '../../../src/domain/rag/upload.ts';

const bytes = (...values: readonly (number | string)[]): Uint8Array =>
  Buffer.concat(values.map((value) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from([value]))));

function reasonOf(content: Uint8Array): string | null {
  try {
    checkedUpload({ name: 'a', bytes: content });
    return null;
  } catch (error) {
    if (error instanceof UploadRefused) return error.reason;
    throw error;
  }
}

/** Bytes that are no UTF-8 text, after a start. */
const binary = (...start: readonly (number | string)[]): Uint8Array => bytes(...start, 0, 0xff);

describe('the check of an upload', () => {
  it.each([
    ['plain text', bytes('hello ü'), null],
    ['a script', bytes('#!/bin/sh\n'), null],
    ['text that begins as an archive', bytes('PK is text, BZh too'), null],
    ['no bytes', bytes(), 'empty_file'],
    ['a ZIP archive', binary('PK', 3, 4), 'archive_not_allowed'],
    ['a gzip archive', binary(0x1f, 0x8b), 'archive_not_allowed'],
    ['a tar archive', binary('x'.repeat(257), 'ustar'), 'archive_not_allowed'],
    ['a Word document', binary('PK', 3, 4, 'x'.repeat(26), '[Content_Types].xml'), 'unsupported_format'],
    ['a Windows program', binary('MZ'), 'executable_not_allowed'],
    ['a Linux program', binary(0x7f, 'ELF'), 'executable_not_allowed'],
    ['a WebAssembly module', binary(0, 'asm'), 'executable_not_allowed'],
    ['an image', binary(0xff, 0xd8), 'unsupported_format'],
    ['text with a NUL', bytes('a', 0, 'b'), 'unsupported_format'],
    ['text in Latin-1', bytes('a', 0xe4, 'b'), 'unsupported_format'],
  ])('%s', (_what, content, reason) => {
    expect(reasonOf(content)).toBe(reason);
  });

  it('accepts 512 MiB and no byte more', () => {
    const tooLarge = { length: MAX_UPLOAD_BYTES + 1 } as Uint8Array;
    expect(reasonOf(tooLarge)).toBe('file_too_large');
  });

  it.each([
    ['a.md', 'hello', 'a.txt', 'text/plain'],
    ['../../etc/a b"c.exe', 'hello', 'a_b_c.txt', 'text/plain'],
    ['C:\\x\\größe.doc', '%PDF-1.4', 'größe.pdf', 'application/pdf'],
    ['a\r\nb.txt', 'hello', 'a_b.txt', 'text/plain'],
    ['', 'hello', 'file.txt', 'text/plain'],
    [`${'n'.repeat(200)}.md`, 'hello', `${'n'.repeat(100)}.txt`, 'text/plain'],
  ])('names %j by its content', (name, content, expected, contentType) => {
    expect(checkedUpload({ name, bytes: bytes(content) })).toEqual({
      name: expected,
      bytes: bytes(content),
      contentType,
    });
  });
});
