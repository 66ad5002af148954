import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { ConfigError, type ConfigFault } from './config-fault.ts';

/** A file to read. */
export interface NamedFile {
  readonly file: string;
  /** Place of the `include` that names the file; null for the first file. */
  readonly includedBy: Pick<ConfigFault, 'source' | 'line' | 'key'> | null;
}

/** Maximum characters of one file. A file with 20,000 models is smaller. */
const MAX_CHARACTERS = 8_000_000;
/** A character has at most four bytes in UTF-8. */
const MAX_BYTES = 4 * MAX_CHARACTERS;
const LINE_END = 0x0a;

/** Reasons of read failures, by error code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EISDIR: 'it is a directory, not a file',
  EACCES: 'the user of this process has no permission to read it',
  EPERM: 'the user of this process has no permission to read it',
};

/**
 * The text of a file. Throws ConfigError when the file is unreadable, too large or no plain UTF-8 text. The place of
 * the error is the `include` that names the file.
 */
export function readText({ file, includedBy }: NamedFile): string {
  const refuse = (message: string, line: number | null = null): ConfigError => {
    const where = line === null ? '' : ` (line ${line})`;
    if (includedBy === null) return new ConfigError([{ source: file, line, key: '', message }]);
    return new ConfigError([{ ...includedBy, message: `${file}${where} ${message}` }]);
  };
  const tooLarge = (size: string): ConfigError =>
    refuse(`has ${size}; a configuration file has at most ${MAX_CHARACTERS} characters`);
  let bytes: Buffer;
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw tooLarge(`${size} bytes`);
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw refuse(`cannot be read: ${REASONS[code] ?? 'the system reports a fault'} (${code})`);
  }
  if (isUtf16(bytes)) throw refuse('is UTF-16 text; save it as UTF-8');
  if (!isUtf8(bytes)) throw refuse('is not UTF-8 text; save it as UTF-8', lineOfFault(bytes));
  const nul = bytes.indexOf(0);
  if (nul !== -1) throw refuse('has a character U+0000; a configuration file is plain text', lineAt(bytes, nul));
  const text = bytes.toString('utf8');
  if (text.length > MAX_CHARACTERS) throw tooLarge(`${text.length} characters`);
  return text;
}

const isUtf16 = (bytes: Buffer): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);

/** 1-based line of an offset. */
function lineAt(bytes: Buffer, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LINE_END); at !== -1 && at < offset; at = bytes.indexOf(LINE_END, at + 1)) line += 1;
  return line;
}

/** Number of the first line that is not UTF-8. No character of UTF-8 contains the byte of a line end. */
function lineOfFault(bytes: Buffer): number {
  for (let start = 0, line = 1; ; line += 1) {
    const end = bytes.indexOf(LINE_END, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
