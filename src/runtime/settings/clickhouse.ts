import type { InsertLimits } from '../../domain/traces/insert-limits.ts';
import type { SettingValues } from './table.ts';

/** ClickHouse server and database of the traces. */
export interface ClickHouseSettings {
  /** `http:`, `https:` or `clickhouse:`; may contain user and password. */
  readonly url: string;
  readonly database: string;
  /** Server that traces are read from; null for `url`. */
  readonly readerUrl: string | null;
  readonly inserts: InsertLimits;
}

const MS_PER_SECOND = 1_000;
/** Names of trace stores: ClickHouse, or the database that stores everything else. */
const KNOWN_STORES = new Set(['clickhouse', 'database', 'postgres', 'postgresql', 'sqlite']);

/** The ClickHouse server of the traces; null when the database stores them. Warnings never repeat a value. */
export function clickHouseOf(values: SettingValues, warn: (warning: string) => void): ClickHouseSettings | null {
  const storeName = values.traceStoreType?.toLowerCase() ?? null;
  // The warning does not repeat the value, which may be an address with a password.
  if (storeName !== null && !KNOWN_STORES.has(storeName))
    warn('The configuration names a store of traces that is not known: the database stores them.');
  const mayBeClickHouse = storeName === null || storeName === 'clickhouse';
  const url = mayBeClickHouse ? values.clickHouseUrl : null;
  const readerUrl = values.clickHouseReaderUrl;
  if (url === null) {
    if (storeName === 'clickhouse')
      warn('The configuration names ClickHouse for traces, but CLICKHOUSE_URL is not set: the database stores them.');
    if (readerUrl !== null) warn('CLICKHOUSE_READER_URL has no effect: the database stores the traces.');
    return null;
  }
  const inserts = { bytes: values.clickHouseInsertBytes, timeoutMs: MS_PER_SECOND * values.clickHouseInsertSeconds };
  return { url, database: values.clickHouseDatabase, readerUrl, inserts };
}
