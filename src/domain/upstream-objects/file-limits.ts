import { TooLarge } from '../errors.ts';

/** Most bytes of one file; null where not configured. */
export interface FileLimits {
  readonly file: number | null;
  /** Limit of a batch input file; null where `file` applies. */
  readonly batchFile: number | null;
}

const MEGABYTE = 1024 * 1024;
const megabytes = (bytes: number): string => String(Number((bytes / MEGABYTE).toFixed(2)));

/** Refuses a file of more bytes than a limit allows. */
export function assertFits(bytes: number, limit: number | null): void {
  if (limit === null || bytes <= limit) return;
  const message = `File size is too large. File size is ${megabytes(bytes)} MB. Max size is ${megabytes(limit)} MB`;
  throw new TooLarge(message, limit);
}
