import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Unsupported } from '../../domain/errors.ts';

/** Location of the data: a SQLite file or a PostgreSQL server. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgresql'; readonly url: string };

function sqliteFile(path: string): DatabaseLocation {
  return { kind: 'sqlite', file: isAbsolute(path) ? path : resolve(path) };
}

/**
 * The SQLite file of an address. `rest` is the address without its scheme and colon. Throws Unsupported for a host and
 * for an invalid escape.
 */
function sqliteLocation(rest: string): DatabaseLocation {
  try {
    if (!rest.startsWith('//')) return sqliteFile(decodeURIComponent(rest));
    return { kind: 'sqlite', file: fileURLToPath(`file:${rest}`) };
  } catch {
    throw new Unsupported('The database URL is not the address of a file: write sqlite:///path or sqlite:path.');
  }
}

/**
 * Reads `DATABASE_URL`. Null means `<dataDir>/lensgate.db`. `sqlite:///path`, `sqlite:path` and `file:` name a SQLite
 * file; `postgres:` and `postgresql:` name a server. Throws Unsupported for another scheme, and for an invalid address.
 * The message does not contain the URL, which may have a password.
 */
export function locateDatabase(databaseUrl: string | null, dataDir: string): DatabaseLocation {
  if (databaseUrl === null) return sqliteFile(join(dataDir, 'lensgate.db'));
  const [, scheme = '', rest = ''] = /^([a-z+]+):(.*)$/i.exec(databaseUrl) ?? [];
  switch (scheme.toLowerCase()) {
    case 'postgres':
    case 'postgresql':
      if (!URL.canParse(databaseUrl)) throw new Unsupported('The database URL is not a valid address.');
      return { kind: 'postgresql', url: databaseUrl };
    case 'sqlite':
    case 'file':
      return sqliteLocation(rest);
    default:
      throw new Unsupported('The database URL must begin with sqlite:, file:, postgres: or postgresql:.');
  }
}
