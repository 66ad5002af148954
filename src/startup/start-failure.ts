import { DomainError } from '../domain/errors.ts';
import { locateDatabase } from '../persistence/database/database-url.ts';
import type { Settings } from '../runtime/settings/settings.ts';

type StartSettings = Pick<Settings, 'host' | 'port' | 'databaseUrl' | 'dataDir'>;

/** Reason of a failed start as a message for the operator; null for an unexpected error, which is logged. */
export function startFailureText(error: unknown, settings: StartSettings): string | null {
  const { port, host } = settings;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use. Choose another with --port.`;
    case 'EACCES': {
      const path = pathOf(error);
      if (path !== null) return `the user of this process has no permission to use ${path}.`;
      return `port ${port} on ${host} may not be opened by this user. Choose another with --port.`;
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose another with --host.`;
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return `${databaseFile(settings)} is damaged or no SQLite database. It was not changed: restore it, or move it away.`;
    default:
      break;
  }
  if (!(error instanceof DomainError)) return null;
  const place = [databaseFile(settings), codeOf(error.cause)].filter((part) => part);
  return place.length === 0 ? error.message : `${error.message} (${place.join(': ')})`;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Path of a failed file operation; null for an error of another kind. */
const pathOf = (error: unknown): string | null =>
  error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : null;

/** Path of the SQLite file; null for another database. */
function databaseFile({ databaseUrl, dataDir }: StartSettings): string | null {
  try {
    const location = locateDatabase(databaseUrl, dataDir);
    return location.kind === 'sqlite' ? location.file : null;
  } catch {
    return null;
  }
}
