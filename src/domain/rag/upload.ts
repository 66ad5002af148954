import { InvalidInput } from '../errors.ts';
import type { SentFile } from './ingest.ts';

type UploadFault =
  | 'empty_file'
  | 'file_too_large'
  | 'archive_not_allowed'
  | 'executable_not_allowed'
  | 'unsupported_format';

/** A file that is not ingested, with the reason. */
export class UploadRefused extends InvalidInput {
  readonly reason: UploadFault;
  constructor(message: string, reason: UploadFault) {
    super(message);
    this.name = 'UploadRefused';
    this.reason = reason;
  }
}

/** A file whose content was checked. The extension of its name is that of the content. */
export interface CheckedFile extends SentFile {
  readonly contentType: 'application/pdf' | 'text/plain';
}

/** Maximum size of a file, in bytes. */
export const MAX_UPLOAD_BYTES = 512 * 1024 * 1024;

/** Bytes at an offset, by which a format is recognised. */
type Signature = readonly [offset: number, bytes: readonly number[]];

const PDF: Signature = [0, [0x25, 0x50, 0x44, 0x46, 0x2d]];
const ZIP: Signature = [0, [0x50, 0x4b]];
const ARCHIVES: readonly Signature[] = [
  [0, [0x1f, 0x8b]],
  [0, [0x42, 0x5a, 0x68]],
  [0, [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  [0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  [0, [0x52, 0x61, 0x72, 0x21, 0x1a]],
  [0, [0x28, 0xb5, 0x2f, 0xfd]],
  [257, [0x75, 0x73, 0x74, 0x61, 0x72]],
];
const EXECUTABLES: readonly Signature[] = [
  [0, [0x4d, 0x5a]],
  [0, [0x7f, 0x45, 0x4c, 0x46]],
  [0, [0xca, 0xfe, 0xba, 0xbe]],
  [0, [0xfe, 0xed, 0xfa, 0xce]],
  [0, [0xfe, 0xed, 0xfa, 0xcf]],
  [0, [0xce, 0xfa, 0xed, 0xfe]],
  [0, [0xcf, 0xfa, 0xed, 0xfe]],
  [0, [0x00, 0x61, 0x73, 0x6d]],
];

const hasSignature = (bytes: Uint8Array, [offset, signature]: Signature): boolean =>
  signature.every((byte, at) => bytes[offset + at] === byte);

/** Whether the bytes are UTF-8 text without control characters of binary formats. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Start of the name of the first file of an Office document, which is a ZIP archive. */
const OFFICE_NAME = /^(\[Content_Types\]\.xml|_rels\/|docProps\/|word\/|xl\/|ppt\/|mimetype)/;
/** Offset of the name of the first file in a ZIP archive. */
const ZIP_NAME_OFFSET = 30;
/** Maximum bytes of that name that are read. */
const ZIP_NAME_BYTES = 100;
/** Maximum characters of the name of a file without its extension. */
const MAX_STEM_CHARACTERS = 100;

const isOffice = (bytes: Uint8Array): boolean =>
  OFFICE_NAME.test(new TextDecoder('latin1').decode(bytes.subarray(ZIP_NAME_OFFSET, ZIP_NAME_OFFSET + ZIP_NAME_BYTES)));

/** Checks a file by its content, not by its name: a PDF document or UTF-8 text. Throws UploadRefused. */
export function checkedUpload({ name, bytes }: SentFile): CheckedFile {
  if (bytes.length === 0) throw new UploadRefused('The file is empty.', 'empty_file');
  if (bytes.length > MAX_UPLOAD_BYTES) throw new UploadRefused('The file is larger than 512 MiB.', 'file_too_large');
  if (hasSignature(bytes, PDF)) return { name: renamed(name, 'pdf'), bytes, contentType: 'application/pdf' };
  if (!isText(bytes)) throw refusedBinary(bytes);
  return { name: renamed(name, 'txt'), bytes, contentType: 'text/plain' };
}

function refusedBinary(bytes: Uint8Array): UploadRefused {
  const isZipArchive = hasSignature(bytes, ZIP) && !isOffice(bytes);
  const isArchive = isZipArchive || ARCHIVES.some((signature) => hasSignature(bytes, signature));
  if (isArchive) return new UploadRefused('Archives are not ingested.', 'archive_not_allowed');
  if (EXECUTABLES.some((signature) => hasSignature(bytes, signature)))
    return new UploadRefused('Programs are not ingested.', 'executable_not_allowed');
  return new UploadRefused('Only PDF documents and UTF-8 text are ingested.', 'unsupported_format');
}

/** A name without folders and special characters, with the extension of the content. */
function renamed(name: string, extension: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const stem = last.replace(/\.[^.]*$/, '').replaceAll(/[^\p{L}\p{N}_-]+/gu, '_');
  return `${stem.slice(0, MAX_STEM_CHARACTERS) || 'file'}.${extension}`;
}
