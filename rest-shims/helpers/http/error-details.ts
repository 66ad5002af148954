import { type DomainError, type ErrorCode, InvalidInput } from '../../../src/domain/errors.ts';
import { INTERNAL_MESSAGE } from './dialect-errors.ts';

/** `code` in the detail of a failure on the traces surface. Other error codes have a detail in FastAPI's format. */
const TRACE_ERROR_CODES: Partial<Record<ErrorCode, string>> = {
  INVALID_INPUT: 'invalid_request',
  CONFLICT: 'trace_changed',
  TOO_LARGE: 'too_large',
  UNAVAILABLE: 'unavailable',
};

/** `detail` on the traces surface: `code` and message, a text, or the list of invalid parameters. */
export function traceDetail(error: DomainError | null): unknown {
  const code = error === null || hasIssues(error) ? undefined : TRACE_ERROR_CODES[error.code];
  return code === undefined ? validationDetail(error, false) : { code, message: error?.message };
}

const hasIssues = (error: DomainError): boolean => error instanceof InvalidInput && error.issues.length > 0;

/**
 * `detail` in FastAPI's format: a text, or the list of invalid parameters. `withInput` repeats the sent values.
 * Management, trace and lens routes do not repeat them, as the reference. A value may be a secret.
 */
export function validationDetail(error: DomainError | null, withInput = true): unknown {
  if (error === null) return INTERNAL_MESSAGE;
  if (!(error instanceof InvalidInput) || error.issues.length === 0) return error.message;
  return error.issues.map(({ rule, path, message, input, context }) => ({
    type: rule,
    loc: path,
    msg: message,
    ...(input === undefined || !withInput ? {} : { input }),
    ...(context === undefined || !withInput ? {} : { ctx: context }),
  }));
}

/**
 * `detail` on the lens surface: a text if the first issue has an empty path, else in FastAPI's format without sent
 * values.
 */
export function lensDetail(error: DomainError | null): unknown {
  const isText = error instanceof InvalidInput && error.issues[0]?.path.length === 0;
  return isText ? error.message : validationDetail(error, false);
}
