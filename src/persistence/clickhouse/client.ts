import { Readable } from 'node:stream';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { TooLarge, Unavailable } from '../../domain/errors.ts';
import { DEFAULT_INSERT_LIMITS, type InsertLimits } from '../../domain/traces/insert-limits.ts';
import { withClickHouseErrors } from './faults.ts';

/** Parameters of a statement, `{name:Type}`. 64-bit numbers are text: JavaScript numbers are doubles. */
export type Params = Readonly<Record<string, string | number | readonly string[]>>;

/** Operations of a ClickHouse server. All that send a statement throw Unavailable while the server cannot be used. */
export interface ClickHouse {
  /** The rows of a query; 64-bit numbers are text. */
  rows<Row>(query: string, params?: Params): Promise<readonly Row[]>;
  /** Runs a statement without a result; resolves when it is done. */
  run(statement: string, params?: Params): Promise<void>;
  /**
   * Inserts rows, each the JSON list of its values in the order of the columns; resolves when they are stored. Above
   * the size limit it uses several statements, and a failure of one does not undo the others. A row above the limit is
   * sent alone; see `assertFits`.
   */
  insert(table: string, columns: readonly string[], rows: readonly string[]): Promise<void>;
  /** Throws TooLarge for a row above the size limit of an insert. */
  assertFits(rows: readonly string[]): void;
  close(): Promise<void>;
}

/** Address of a server; `url` may contain user and password. */
export interface ClickHouseLocation {
  /** `http:`, `https:`, or `clickhouse:`, which means `http:`. */
  readonly url: string;
  readonly database: string;
  /** Address for reads of the same tables; null or absent: `url`. */
  readonly readerUrl?: string | null;
  /** Absent: `DEFAULT_INSERT_LIMITS`. */
  readonly inserts?: InsertLimits;
}

const SETTINGS: ClickHouseSettings = {
  // A double cannot represent Unix nanoseconds exactly.
  output_format_json_quote_64bit_integers: 1,
  // An answer means that the rows are stored, also with asynchronous inserts.
  wait_for_async_insert: 1,
  // Errors must arrive as a status, before the answer begins.
  wait_end_of_query: 1,
};
const TIMEOUT_MS = 30_000;
const CONNECTIONS = 10;
/** Minimum length of a piece of a request body, except the last one, in UTF-16 units. */
const PIECE_LENGTH = 1 << 18;

export const clickHouseHttpUrl = (url: string): string => url.replace(/^clickhouse:/i, 'http:');

/**
 * Creates a client; it does not connect yet. The library is loaded here, because only installations with ClickHouse
 * need it.
 */
export async function openClickHouse(location: ClickHouseLocation, database = location.database): Promise<ClickHouse> {
  const inserts = location.inserts ?? DEFAULT_INSERT_LIMITS;
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  const client: ClickHouseClient = createClient({
    url: clickHouseHttpUrl(location.url),
    database,
    application: 'lensgate',
    // Idle timeout of a connection. An insert may take longer than other statements.
    request_timeout: Math.max(TIMEOUT_MS, inserts.timeoutMs),
    max_open_connections: CONNECTIONS,
    // Parameters of a query are sent in its body when they are long: lists of ids may not fit into a URL.
    use_multipart_params_auto: true,
    clickhouse_settings: SETTINGS,
    // The library would log statements with values.
    log: { level: ClickHouseLogLevel.OFF },
  });
  let closed = false;
  const whileOpen = <Result>(work: () => Promise<Result>): Promise<Result> =>
    closed ? Promise.reject(new Unavailable('The store is closing.')) : withClickHouseErrors(work);

  return {
    rows: <Row>(query: string, params: Params = {}) =>
      whileOpen(async () => {
        const answer = await client.query({ query, query_params: { ...params }, format: 'JSONEachRow' });
        return answer.json<Row>();
      }),
    run: (query, params = {}) =>
      whileOpen(async () => {
        await client.command({ query, query_params: { ...params } });
      }),
    insert: (table, columns, rows) =>
      whileOpen(async () => {
        const query = `insert into ${table} (${columns.join(', ')}) format JSONCompactEachRow`;
        for (const batch of batchesOf(rows, inserts.bytes)) {
          const { stream } = await client.exec({
            query,
            values: Readable.from(pieces(batch), { objectMode: false }),
            abort_signal: AbortSignal.timeout(inserts.timeoutMs),
          });
          // The answer ends when the rows are stored.
          await stream.resume().toArray();
        }
      }),
    assertFits(rows) {
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

/**
 * The rows as the body of an insert, one per line, in pieces: one string of all rows may exceed V8's maximum length.
 */
function* pieces(rows: readonly string[]): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${row}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

const LINE_BREAK_BYTES = 1;
/** A UTF-16 unit is at most this many bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;
/** Upper bound of `bytesOf`, without counting the bytes. */
const mostBytesOf = (row: string): number => row.length * MOST_BYTES_PER_UNIT + LINE_BREAK_BYTES;
const bytesOf = (row: string): number => Buffer.byteLength(row) + LINE_BREAK_BYTES;
const isWithin = (row: string, limit: number): boolean => mostBytesOf(row) <= limit || bytesOf(row) <= limit;

/** Batches of rows of at most `mostBytes` together. A larger row is a batch of its own. */
function* batchesOf(rows: readonly string[], mostBytes: number): Generator<readonly string[]> {
  // The usual case, without counting bytes.
  if (rows.reduce((total, row) => total + mostBytesOf(row), 0) <= mostBytes) {
    yield rows;
    return;
  }
  let batch: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const rowBytes = bytesOf(row);
    if (batch.length > 0 && bytes + rowBytes > mostBytes) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += rowBytes;
  }
  if (batch.length > 0) yield batch;
}
