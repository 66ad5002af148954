import type { RequestFailure } from '../../rest-shims/helpers/http/row-server.ts';
import { DomainError } from '../domain/errors.ts';
import type { RefusedFor } from '../domain/metrics.ts';
import { FreeTierUsedUp } from '../domain/free-tier/free-tier.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createSampledWarnings, type Log } from '../runtime/telemetry/log.ts';

/** Start of the error codes of Node's HTTP parser. */
const PARSER_CODE_PREFIX = 'HPE_';

const CLIENT_ABORT_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECANCELED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Logs failures of connections and middleware, except aborts by clients and bytes that are not HTTP. */
export function connectionFailureLog(log: Log): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    const code = error.code ?? '';
    if (!CLIENT_ABORT_CODES.has(code) && !code.startsWith(PARSER_CODE_PREFIX))
      log.error({ err: error }, 'HTTP server failure');
  };
}

/** Warns of connections that send something other than HTTP; Node answers and closes them. */
export function notHttpLog(log: Log): (error: NodeJS.ErrnoException) => void {
  const warn = createSampledWarnings(log);
  return ({ code = '', message }) => {
    if (code.startsWith(PARSER_CODE_PREFIX))
      warn(code, () => ({ code, reason: message }), 'a request is incomplete or is not HTTP');
  };
}

/**
 * Logs failed requests: domain errors as sampled warnings, all others as errors with their stack. A used-up free tier
 * is a debug message, because clients without a key repeat such requests without limit.
 */
export function failureLog(log: Log): (failure: RequestFailure) => void {
  const warn = createSampledWarnings(log);
  return ({ row, status, error, requestId }) => {
    const facts = () => ({ requestId: requestId ?? randomIds.uuid(), route: row.name, status });
    if (!(error instanceof DomainError)) return log.error({ ...facts(), err: error }, 'request failed');
    const refusal = () => ({ ...facts(), code: error.code, reason: error.message });
    if (error instanceof FreeTierUsedUp) return log.debug(refusal(), 'request refused');
    return warn(`${row.name} ${error.code}`, refusal, 'request refused');
  };
}

/** Warns of refused connections: for each reason at most one connection per second, then the number of the others. */
export function refusedConnectionLog(log: Log): (reason: RefusedFor, network: string | null) => void {
  const warn = createSampledWarnings(log, { sample: 1 });
  return (reason, network) => warn(reason, () => ({ reason, network }), 'a connection was refused: max_connections');
}
