import { Readable } from 'node:stream';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { TooLarge, Unavailable } from '../../domain/errors.ts';
import { DEFAULT_INSERT_LIMITS, type InsertLimits } from '../../domain/traces/insert-limits.ts';
import { reachingClickHouse } from './faults.ts';

/** Values of a statement's `{name:Type}` places. 64-bit numbers are text: JavaScript's own would be doubles. */
export type Params = Readonly<Record<string, string | number | readonly string[]>>;

/** A ClickHouse server, as far as the trace store needs one. Throws Unavailable when it cannot be used now. */
export interface ClickHouse {
  /** The rows that a query gives; 64-bit numbers come as text. */
  rows<Row>(query: string, params?: Params): Promise<readonly Row[]>;
  /** Runs a statement that gives nothing; resolves when it is done. */
  run(statement: string, params?: Params): Promise<void>;
  /**
   * Inserts rows, each the JSON list of its values in the order of the columns; resolves when they are stored. They go in
   * several statements when one would be too large: what is then stored of them when one fails is not taken back. A row
   * that alone is too large goes alone; see `demandRoom`.
   */
  insert(table: string, columns: readonly string[], rows: readonly string[]): Promise<void>;
  /** Throws TooLarge when one of the rows is more than an insert may be. */
  demandRoom(rows: readonly string[]): void;
  close(): Promise<void>;
}

/** Where a server is; `url` may hold user and password. */
export interface ClickHouseLocation {
  /** `http:` or `https:`, or `clickhouse:` for the former. */
  readonly url: string;
  readonly database: string;
  /** Where traces are read, over the same tables; null or absent: there, too. */
  readonly readerUrl?: string | null;
  /** Absent: the contract's. */
  readonly inserts?: InsertLimits;
}

const SETTINGS: ClickHouseSettings = {
  // A double has no room for nanoseconds.
  output_format_json_quote_64bit_integers: 1,
  // Whatever the server's profile says of asynchronous inserts, an answer means that the rows are stored.
  wait_for_async_insert: 1,
  // An answer that has begun cannot become an error any more.
  wait_end_of_query: 1,
};
const TIMEOUT_MS = 30_000;
const CONNECTIONS = 10;
/** Rows are sent in pieces of so many bytes of text. */
const PIECE_BYTES = 1 << 18;

const httpUrl = (url: string): string => url.replace(/^clickhouse:/i, 'http:');

/** Connects nowhere yet. The client is loaded here, so that who has no ClickHouse does not pay for it. */
export async function openClickHouse(location: ClickHouseLocation, database = location.database): Promise<ClickHouse> {
  const inserts = location.inserts ?? DEFAULT_INSERT_LIMITS;
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  const client: ClickHouseClient = createClient({
    url: httpUrl(location.url),
    database,
    application: 'lensgate',
    // Of silence on a connection; an insert has a clock of its own, which it must not be shorter than.
    request_timeout: Math.max(TIMEOUT_MS, inserts.timeoutMs),
    max_open_connections: CONNECTIONS,
    // Long lists of ids do not fit an address.
    use_multipart_params_auto: true,
    clickhouse_settings: SETTINGS,
    // It would log statements, and they carry values.
    log: { level: ClickHouseLogLevel.OFF },
  });
  let closed = false;
  const asked = <Result>(work: () => Promise<Result>): Promise<Result> =>
    closed ? Promise.reject(new Unavailable('The store is closing.')) : reachingClickHouse(work);

  return {
    rows: <Row>(query: string, params: Params = {}) =>
      asked(async () => {
        const answer = await client.query({ query, query_params: { ...params }, format: 'JSONEachRow' });
        return answer.json<Row>();
      }),
    run: (query, params = {}) =>
      asked(async () => {
        await client.command({ query, query_params: { ...params } });
      }),
    insert: (table, columns, rows) =>
      asked(async () => {
        const query = `insert into ${table} (${columns.join(', ')}) format JSONCompactEachRow`;
        for (const lot of lotsOf(rows, inserts.bytes)) {
          const { stream } = await client.exec({
            query,
            values: Readable.from(pieces(lot), { objectMode: false }),
            abort_signal: AbortSignal.timeout(inserts.timeoutMs),
          });
          await stream.resume().toArray();
        }
      }),
    demandRoom(rows) {
      if (rows.some((row) => !isWithin(row, inserts.bytes)))
        throw new TooLarge(
          `A span or the body of the export is larger than the ${inserts.bytes} bytes that the store takes at once.`,
          inserts.bytes,
        );
    },
    async close() {
      closed = true;
      await client.close();
    },
  };
}

/** The rows as the body of an insert, a line for each, in pieces: one text of all may be longer than any may be. */
function* pieces(rows: readonly string[]): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${row}\n`;
    if (piece.length < PIECE_BYTES) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** A character of a text is one to three bytes in UTF-8, and a row ends with one more. */
const atMostBytes = (row: string): number => 3 * row.length + 1;
const bytesOf = (row: string): number => Buffer.byteLength(row) + 1;
const isWithin = (row: string, bytes: number): boolean => atMostBytes(row) <= bytes || bytesOf(row) <= bytes;

/** The rows in lots of at most so many bytes each, or of one row. */
function* lotsOf(rows: readonly string[], mostBytes: number): Generator<readonly string[]> {
  // Almost always, and to know it nobody counts bytes.
  if (rows.reduce((total, row) => total + atMostBytes(row), 0) <= mostBytes) {
    yield rows;
    return;
  }
  let lot: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const more = bytesOf(row);
    if (lot.length > 0 && bytes + more > mostBytes) {
      yield lot;
      lot = [];
      bytes = 0;
    }
    lot.push(row);
    bytes += more;
  }
  if (lot.length > 0) yield lot;
}
