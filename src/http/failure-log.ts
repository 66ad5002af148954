import type { RequestFailure } from '../../rest-shims/http/router.ts';
import { DomainError } from '../domain/errors.ts';
import type { RefusedFor } from '../domain/metrics.ts';
import { FreeTierUsedUp } from '../domain/free-tier/free-tier.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createSampledWarnings, type Log } from '../runtime/telemetry/log.ts';

const LEAVING = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECANCELED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Tells what went wrong on a connection, unless that is a client that left: Node and the doors have dealt with it. */
export function edgeFailureLog(log: Log): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    const code = error.code ?? '';
    if (!LEAVING.has(code) && !code.startsWith('HPE_')) log.error({ err: error }, 'edge failure');
  };
}

/** Tells of connections that stop speaking HTTP, or never began; Node answers and closes them. */
export function notHttp(log: Log): (error: NodeJS.ErrnoException) => void {
  const warn = createSampledWarnings(log);
  return ({ code = '', message }) => {
    if (code.startsWith('HPE_')) warn(code, () => ({ code, reason: message }), 'a request broke off or is not HTTP');
  };
}

/**
 * Warnings are what callers did, and not told one by one in a flood; errors, with their cause, are ours. Who has used
 * up the day may ask without end.
 */
export function failureLog(log: Log): (failure: RequestFailure) => void {
  const warn = createSampledWarnings(log);
  return ({ row, status, error }) => {
    const facts = () => ({ requestId: randomIds.uuid(), route: row.name, status });
    if (!(error instanceof DomainError)) return log.error({ ...facts(), err: error }, 'request failed');
    const told = () => ({ ...facts(), code: error.code, reason: error.message });
    if (error instanceof FreeTierUsedUp) return log.debug(told(), 'request refused');
    return warn(`${row.name} ${error.code}`, told, 'request refused');
  };
}

/** Warns of refused connections, at most some lines per second for each reason. */
export function refusedConnections(log: Log): (reason: RefusedFor, network: string | null) => void {
  const warn = createSampledWarnings(log, { sample: 1 });
  return (reason, network) => warn(reason, () => ({ reason, network }), 'a connection was refused: max_connections');
}
