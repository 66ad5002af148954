import { DomainError, Unavailable } from '../../domain/errors.ts';

/**
 * What a server answers that cannot be used now, by its own numbers: timeouts, too much at once, memory, disk, network,
 * read-only tables, too many parts to merge, Keeper. It comes to rights, or an operator has to see to it.
 */
const AWAY = new Set([
  '159',
  '160',
  '164',
  '198',
  '201',
  '202',
  '203',
  '209',
  '210',
  '225',
  '236',
  '241',
  '242',
  '243',
]);
const ALSO_AWAY = new Set(['252', '279', '285', '286', '290', '319', '394', '425', '999']);
/** It knows the caller not, or gives it no right. */
const REFUSING = new Set(['192', '193', '194', '497', '516']);

/** What the official client throws for an answer of the server. */
interface ServerError extends Error {
  /** A number as text. */
  readonly code: string;
  /** Its name, e.g. `MEMORY_LIMIT_EXCEEDED`. */
  readonly type: string | undefined;
}

const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'type' in error && 'code' in error && /^\d+$/.test(String(error.code));

/** The server's own text quotes what was sent to it: values of spans, which no log may have. */
const withoutValues = ({ type, code }: ServerError): Error => new Error(`ClickHouse: ${type ?? 'error'} (${code})`);

/**
 * Runs work against a server. One that is away becomes Unavailable, whether nothing answers, what answers is no
 * ClickHouse, or it says so itself; a refused statement becomes an error that names the refusal.
 */
export async function reachingClickHouse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError || error instanceof TypeError || error instanceof RangeError) throw error;
    if (!isServerError(error)) throw away(error);
    if (REFUSING.has(error.code))
      throw new Unavailable('The trace store does not let us in.', null, { cause: withoutValues(error) });
    throw AWAY.has(error.code) || ALSO_AWAY.has(error.code) ? away(withoutValues(error)) : withoutValues(error);
  }
}

const away = (cause: unknown): Unavailable =>
  new Unavailable('The trace store cannot be used at the moment.', undefined, { cause });
