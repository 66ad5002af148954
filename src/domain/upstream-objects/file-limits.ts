import { TooLarge } from '../errors.ts';

/** Maximum sizes of uploaded files, in bytes. */
export interface FileLimits {
  /** Null where not configured. */
  readonly file: number | null;
  /** Limit of a batch input file; null where `file` applies. */
  readonly batchFile: number | null;
}

const MEGABYTE = 1024 * 1024;
const megabytes = (bytes: number): string => String(Number((bytes / MEGABYTE).toFixed(2)));

/** Throws TooLarge for a file of more bytes than the limit; null is unlimited. */
export function assertFits(bytes: number, limit: number | null): void {
  if (limit === null || bytes <= limit) return;
  const message = `File size is too large. File size is ${megabytes(bytes)} MB. Max size is ${megabytes(limit)} MB`;
  throw new TooLarge(message, limit);
}
