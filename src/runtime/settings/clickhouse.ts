import { DEFAULT_INSERT_LIMITS, type InsertLimits } from '../../domain/traces/insert-limits.ts';
import type { ConfigFault, TraceStoreSection } from './config-file.ts';
import { countIn } from './whole-number.ts';

/** A ClickHouse server, and the database in it that is ours. */
export interface ClickHouseSettings {
  /** `http:`, `https:` or `clickhouse:`, with user and password where the server asks for them. */
  readonly url: string;
  readonly database: string;
  /** Where traces are read, over the same tables; null for the address they are written to. */
  readonly readerUrl: string | null;
  readonly inserts: InsertLimits;
}

const DEFAULT_DATABASE = 'lensgate';
/** More than a commit ever is. */
const MOST_INSERT_BYTES = 2 ** 31 - 1;
const MOST_INSERT_SECONDS = 3_600;
const MS_PER_SECOND = 1_000;
const ADDRESS = /^(?:https?|clickhouse):\/\/[^/]/i;
/** A name that no statement has to quote. */
const NAME = /^[a-z_]\w{0,62}$/i;
/** Names of stores: ClickHouse, or the database that keeps everything else. */
const KNOWN_STORES = new Set(['clickhouse', 'database', 'postgres', 'postgresql', 'sqlite']);
const NO_ADDRESS = 'is not an address like http://user:password@host:8123';

const isAddress = (url: string): boolean => ADDRESS.test(url) && URL.canParse(url);

/**
 * Whether traces are kept in ClickHouse, and where. The file wins over the environment, as it does for every store of
 * traces; an address alone is enough. Faults and warnings never repeat the address, which may hold a password.
 */
export function readClickHouse(
  env: NodeJS.ProcessEnv,
  file: TraceStoreSection,
  tell: { readonly fault: (fault: ConfigFault) => void; readonly warn: (warning: string) => void },
): ClickHouseSettings | null {
  const inserts: InsertLimits = {
    bytes: countIn(env, 'CLICKHOUSE_TRACE_MAX_INSERT_BYTES', {
      otherwise: DEFAULT_INSERT_LIMITS.bytes,
      most: MOST_INSERT_BYTES,
      fault: tell.fault,
    }),
    timeoutMs:
      MS_PER_SECOND *
      countIn(env, 'CLICKHOUSE_INSERT_TIMEOUT_SECONDS', {
        otherwise: DEFAULT_INSERT_LIMITS.timeoutMs / MS_PER_SECOND,
        most: MOST_INSERT_SECONDS,
        fault: tell.fault,
      }),
  };
  const fault = (inFile: boolean, key: string, variable: string, message: string): void =>
    inFile
      ? tell.fault({ source: 'config file', line: null, key: `general_settings.tracing.store.${key}`, message })
      : tell.fault({ source: 'environment', line: null, key: variable, message });
  const readerUrl = env['CLICKHOUSE_READER_URL'] || null;
  if (readerUrl !== null && !isAddress(readerUrl)) fault(false, '', 'CLICKHOUSE_READER_URL', NO_ADDRESS);
  const named = file.type?.toLowerCase() ?? null;
  // It may be an address, with a password in it: it is not repeated.
  if (named !== null && !KNOWN_STORES.has(named))
    tell.warn('The configuration names a store of traces that is not known: the database keeps them.');
  const url = named === null || named === 'clickhouse' ? (file.url ?? (env['CLICKHOUSE_URL'] || null)) : null;
  if (url === null) {
    if (named === 'clickhouse')
      tell.warn('Traces are to be kept in ClickHouse, but there is no CLICKHOUSE_URL: the database keeps them.');
    if (readerUrl !== null)
      tell.warn('There is a CLICKHOUSE_READER_URL, but the database keeps the traces: they are read there.');
    return null;
  }
  const database = file.database ?? (env['CLICKHOUSE_DATABASE'] || DEFAULT_DATABASE);
  if (!isAddress(url)) fault(file.url !== null, 'url', 'CLICKHOUSE_URL', NO_ADDRESS);
  if (!NAME.test(database))
    fault(file.database !== null, 'database', 'CLICKHOUSE_DATABASE', 'is not letters, digits and underscores');
  return { url, database, readerUrl, inserts };
}
