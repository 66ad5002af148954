import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { BodyReader } from '../../../src/domain/traces/packed.ts';
import type { ClickHouse } from '../../../src/persistence/clickhouse/client.ts';
import { createMutex } from '../../../src/persistence/database/mutex.ts';
import { createClickHouseRemoval } from '../../../src/persistence/clickhouse/trace-removal.ts';

interface TraceRow {
  readonly trace_id: string;
  readonly trace_ref: string;
}

interface SpanRow extends TraceRow {
  readonly body_id: string;
}

interface BodyVersion {
  readonly body_id: string;
  readonly version: number;
  readonly trace_ids: readonly string[];
  readonly base64: string;
}

interface Rows {
  readonly trace_by_start: TraceRow[];
  readonly trace_summary: TraceRow[];
  readonly span: SpanRow[];
  readonly export_body: BodyVersion[];
}

type TraceTable = 'trace_by_start' | 'trace_summary' | 'span';

const refOf = ({ trace_ref: ref }: TraceRow): string => ref;
const latestFirst = (left: BodyVersion, right: BodyVersion): number => right.version - left.version;

/** A server that answers the statements of retention. `beforeEach` is called with each statement. */
function aServer(tables: Rows, beforeEach: (statement: string) => void = () => {}) {
  const searched: string[] = [];
  const keep = <Row>(rows: Row[], isKept: (row: Row) => boolean): void => {
    rows.splice(0, rows.length, ...rows.filter(isKept));
  };
  function found(query: string, params: Readonly<Record<string, unknown>>): readonly unknown[] {
    const { most = 0, ids = [], traceIds = [] } = params as { most?: number; ids?: string[]; traceIds?: string[] };
    const table = /^select trace_id, trace_ref from (trace_by_start|trace_summary) final/.exec(query)?.[1];
    if (table !== undefined) {
      searched.push(table);
      return tables[table as TraceTable].slice(0, most);
    }
    if (query.includes('count()')) return [{ rows: '0' }];
    if (query.includes('from span where')) return tables.span.filter(({ trace_id: id }) => ids.includes(id));
    if (query.includes('from span final')) return tables.span.filter(({ trace_id: id }) => traceIds.includes(id));
    if (query.includes('hasAny('))
      return tables.export_body.filter((body) => body.trace_ids.some((id) => ids.includes(id)));
    if (query.includes('base64Encode')) return tables.export_body.toSorted(latestFirst).slice(0, 1);
    // Each test has at most one body.
    if (query.includes('from export_body final'))
      return ids.length === 0 ? [] : tables.export_body.toSorted(latestFirst).slice(0, 1);
    if (query.includes('from system.parts')) return [{ day: '7' }];
    throw new Error(`unexpected: ${query}`);
  }
  const server: Pick<ClickHouse, 'rows' | 'run' | 'insert'> = {
    async rows<Row>(query: string, params: Readonly<Record<string, unknown>> = {}) {
      beforeEach(query);
      return found(query, params) as readonly Row[];
    },
    async run(statement) {
      beforeEach(statement);
      const table = /^delete from (\w+) /.exec(statement)?.[1];
      const before = Number(/version < (\d+)/.exec(statement)?.[1] ?? Number.MAX_VALUE);
      if (table === 'export_body') keep(tables.export_body, ({ version }) => version >= before);
      else if (table !== undefined)
        keep<TraceRow>(tables[table as TraceTable], (row) => !statement.includes(`'${refOf(row)}'`));
    },
    async insert(table, _columns, rows) {
      beforeEach(`insert into ${table}`);
      for (const row of rows) {
        const [id, , version, traceIds] = JSON.parse(row) as [string, number, number, string[]];
        tables.export_body.push({ body_id: id, version, trace_ids: traceIds, base64: '' });
      }
    },
  };
  return { server: server as ClickHouse, searched };
}

const READER = { without: (body: object) => Promise.resolve({ ...body, bytes: Buffer.from('kept') }) };
const mutexes = () => ({ bodyMutex: createMutex(), traceMutex: createMutex() });
const removalOn = (server: ClickHouse, { bodyMutex, traceMutex } = mutexes()) =>
  createClickHouseRemoval(server, READER as unknown as BodyReader, { bodyMutex, traceMutex });

const trace = (name: string): TraceRow => ({ trace_id: `id-${name}`, trace_ref: `ref-${name}` });
const isWrite = (statement: string): boolean => /^(?:delete|insert|alter)/.test(statement);

/** One trace. Its only span has its payload in a body, which may contain another trace. */
const oneTrace = (...others: readonly string[]): Rows => ({
  trace_by_start: [trace('old')],
  trace_summary: [trace('old')],
  span: [{ ...trace('old'), body_id: 'body' }],
  export_body: [{ body_id: 'body', version: 1, trace_ids: ['id-old', ...others], base64: '' }],
});

it('retention removes summaries that an interrupted removal left, after all listed traces', async () => {
  // The removal of `left` stopped before its last step: only its summary exists.
  const tables: Rows = {
    trace_by_start: [trace('one'), trace('two')],
    trace_summary: [trace('left'), trace('one'), trace('two')],
    span: [],
    export_body: [],
  };
  const { server, searched } = aServer(tables);
  const removal = removalOn(server);
  // A full page leaves the rest to the next call.
  expect(await removal.removeStartedBefore(1_000, 2)).toBe(2);
  expect(tables.trace_summary.map(refOf)).toEqual(['ref-left']);
  expect(searched).toEqual(['trace_by_start']);
  expect(await removal.removeStartedBefore(1_000, 2)).toBe(1);
  expect(tables).toEqual({ trace_by_start: [], trace_summary: [], span: [], export_body: [] });
  expect(await removal.removeStartedBefore(1_000, 2)).toBe(0);
});

it.each([
  { body: 'of one trace', others: [], step: 1, name: 'delete from trace_summary' },
  { body: 'of one trace', others: [], step: 2, name: 'delete from span' },
  { body: 'of one trace', others: [], step: 3, name: 'delete from export_body' },
  { body: 'of one trace', others: [], step: 4, name: 'delete from trace_by_start' },
  { body: 'of two traces', others: ['id-kept'], step: 3, name: 'insert into export_body' },
  { body: 'of two traces', others: ['id-kept'], step: 4, name: 'delete from export_body' },
  { body: 'of two traces', others: ['id-kept'], step: 5, name: 'delete from trace_by_start' },
])('the next retention completes one that failed at "$name", with a body $body', async ({ others, step, name }) => {
  const tables = oneTrace(...others);
  let writes = 0;
  const { server } = aServer(tables, (statement) => {
    if (!isWrite(statement)) return;
    writes += 1;
    if (writes !== step) return;
    expect(statement.startsWith(name)).toBe(true);
    throw new Unavailable('away');
  });
  const removal = removalOn(server);
  await expect(removal.removeStartedBefore(1_000, 10)).rejects.toEqual(new Unavailable('away'));
  expect(await removal.removeStartedBefore(1_000, 10)).toBe(1);
  const [latest] = tables.export_body.toSorted(latestFirst);
  expect(latest?.trace_ids ?? []).toEqual(others);
  expect([tables.trace_by_start, tables.trace_summary, tables.span]).toEqual([[], [], []]);
});

it('retention deletes nothing while another process changes bodies', async () => {
  const tables = oneTrace();
  const { server } = aServer(tables);
  const busy = new Unavailable('The database cannot be used at the moment.');
  const removal = removalOn(server, { ...mutexes(), bodyMutex: () => Promise.reject(busy) });
  await expect(removal.removeStartedBefore(1_000, 10)).rejects.toEqual(busy);
  expect(tables).toEqual(oneTrace());
});

it('retention without old traces does not wait for another process', async () => {
  const { server } = aServer({ trace_by_start: [], trace_summary: [], span: [], export_body: [] });
  const removal = removalOn(server, { ...mutexes(), bodyMutex: () => Promise.reject(new Unavailable('busy')) });
  expect(await removal.removeStartedBefore(1_000, 10)).toBe(0);
});

it('retention drops empty days also when the search of all summaries fails', async () => {
  const statements: string[] = [];
  const { server } = aServer(oneTrace(), (statement) => {
    statements.push(statement);
    if (statement.includes('from trace_summary final')) throw new Unavailable('too slow');
  });
  await expect(removalOn(server).removeStartedBefore(1_000, 10)).rejects.toEqual(new Unavailable('too slow'));
  expect(statements.filter((statement) => statement.includes('drop partition'))).toEqual(
    ['span', 'trace_summary', 'trace_by_start', 'export_body'].map((table) => `alter table ${table} drop partition 7`),
  );
});
