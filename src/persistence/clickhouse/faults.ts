import { DomainError, Unavailable } from '../../domain/errors.ts';

/**
 * Error codes of a server that cannot be used now: timeouts, too many queries, memory, disk, network, read-only tables,
 * too many parts, Keeper.
 */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(
  '159 160 164 198 201 202 203 209 210 225 236 241 242 243 252 279 285 286 290 319 394 425 999'.split(' '),
);
/** Error codes of authentication and access. */
const ACCESS_CODES = new Set(['192', '193', '194', '497', '516']);

/** Error of the official client for an error answer of the server. */
interface ServerError extends Error {
  /** Error code as text. */
  readonly code: string;
  /** Error name, e.g. `MEMORY_LIMIT_EXCEEDED`. */
  readonly type: string | undefined;
}

export const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'type' in error && 'code' in error && /^\d+$/.test(String(error.code));

/** Without the server's text, which quotes values of spans: they must not be logged. */
const withoutValues = ({ type, code }: ServerError): Error => new Error(`ClickHouse: ${type ?? 'error'} (${code})`);

/**
 * Runs work against a server. Throws Unavailable when nothing answers, when the answer is not from a ClickHouse server,
 * and for the codes in `UNAVAILABLE_CODES` and `ACCESS_CODES`. Any other error of the server becomes an error with its
 * name and code only.
 */
export async function withClickHouseErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // These errors come from this process, not from the server.
    if (error instanceof DomainError || error instanceof TypeError || error instanceof RangeError) throw error;
    if (!isServerError(error)) throw unavailable(error);
    // `null`: a retry does not help.
    if (ACCESS_CODES.has(error.code))
      throw new Unavailable('The trace store refused the user or its rights.', null, { cause: withoutValues(error) });
    throw UNAVAILABLE_CODES.has(error.code) ? unavailable(withoutValues(error)) : withoutValues(error);
  }
}

/** Whether an error is about the server or a limit, and not about the statement. */
export const isServerFailure = ({ code }: ServerError): boolean =>
  UNAVAILABLE_CODES.has(code) || ACCESS_CODES.has(code);

const unavailable = (cause: unknown): Unavailable =>
  new Unavailable('The trace store cannot be used at the moment.', undefined, { cause });
