import type { ConfigFault, TraceStoreSection } from './config-file.ts';

/** A ClickHouse server, and the database in it that is ours. */
export interface ClickHouseSettings {
  /** `http:`, `https:` or `clickhouse:`, with user and password where the server asks for them. */
  readonly url: string;
  readonly database: string;
}

const DEFAULT_DATABASE = 'lensgate';
const ADDRESS = /^(?:https?|clickhouse):\/\/[^/]/i;
/** A name that no statement has to quote. */
const NAME = /^[a-z_]\w{0,62}$/i;

/**
 * Whether traces are kept in ClickHouse, and where. The file wins over the environment, as it does for every store of
 * traces; an address alone is enough. Faults and warnings never repeat the address, which may hold a password.
 */
export function readClickHouse(
  env: NodeJS.ProcessEnv,
  file: TraceStoreSection,
  tell: { readonly fault: (fault: ConfigFault) => void; readonly warn: (warning: string) => void },
): ClickHouseSettings | null {
  const named = file.type?.toLowerCase() ?? null;
  if (named !== null && named !== 'clickhouse') return null;
  const url = file.url ?? (env['CLICKHOUSE_URL'] || null);
  if (url === null) {
    if (named !== null)
      tell.warn('Traces are to be kept in ClickHouse, but there is no CLICKHOUSE_URL: the database keeps them.');
    return null;
  }
  const database = file.database ?? (env['CLICKHOUSE_DATABASE'] || DEFAULT_DATABASE);
  const fault = (inFile: boolean, key: string, variable: string, message: string): void =>
    inFile
      ? tell.fault({ source: 'config file', line: null, key: `general_settings.tracing.store.${key}`, message })
      : tell.fault({ source: 'environment', line: null, key: variable, message });
  if (!ADDRESS.test(url) || !URL.canParse(url))
    fault(file.url !== null, 'url', 'CLICKHOUSE_URL', 'is not an address like http://user:password@host:8123');
  if (!NAME.test(database))
    fault(file.database !== null, 'database', 'CLICKHOUSE_DATABASE', 'is not letters, digits and underscores');
  return { url, database };
}
