import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TraceKey } from '../../src/domain/traces/store.ts';
import { type ClickHouseTraceStore, openClickHouseTraces } from '../../src/persistence/clickhouse/traces.ts';
import { createMutex, type Mutex } from '../../src/persistence/database/mutex.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, TEAM_KEY, traceId } from './samples.ts';

const STORED: TraceKey = { traceId: traceId(7), traceRef: traceRefOf(TEAM_KEY, traceId(7)) };
const NEW_REF = traceRefOf(TEAM_KEY, traceId(1));

/** Rows of a server that has one trace with a body, and one span of a new trace after its insert. */
function answerTo(query: string): readonly object[] {
  if (/^select trace_id, trace_ref from trace_(?:summary|by_start) final/.test(query))
    return [{ trace_id: STORED.traceId, trace_ref: STORED.traceRef }];
  if (query.includes('uniqExact(span_id)')) return [{ trace_ref: NEW_REF, spans: '1' }];
  if (query.includes('from export_body where hasAny(')) return [{ body_id: 'body' }];
  return [];
}

/** Answers the statements of the trace store, as ClickHouse does. */
async function aServer(changes: string[]): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const inUrl = new URL(incoming.url ?? '/', 'http://clickhouse').searchParams.get('query');
      const statement = inUrl ?? Buffer.concat(chunks).toString();
      const change = /^(?:delete from|alter table|insert into) \w+/.exec(statement)?.[0];
      if (change !== undefined) changes.push(change);
      outgoing.end(
        answerTo(statement)
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(''),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

let scratch: ScratchDatabase;
let server: Server;
let traces: ClickHouseTraceStore;
let bodyMutex: Mutex;
/** Statements that change rows, without their conditions. */
let changes: string[];
beforeEach(async () => {
  const engine = ENGINES.find(({ skipReason }) => skipReason === null);
  if (engine === undefined) throw new Error('no embedded engine');
  scratch = await engine.create();
  changes = [];
  server = await aServer(changes);
  bodyMutex = createMutex();
  const { port } = server.address() as AddressInfo;
  traces = await openClickHouseTraces(
    { url: `http://127.0.0.1:${port}`, database: 'd' },
    (await scratch.openBare()).orm,
    {
      bodies: undefined,
      annotated: () => Promise.resolve([]),
      log: { warn: () => {} },
      limit: undefined,
      bodyMutex,
    },
  );
  changes.length = 0;
});
afterEach(async () => {
  await traces.close();
  server.close();
  await scratch.remove();
});

it.each([
  ['a removal', () => traces.remove([STORED])],
  ['a redaction', () => traces.redact([STORED], new Date(0))],
  ['retention', () => traces.removeStartedBefore(1_000, 1)],
])('spans are stored while %s waits for another process', async (_name, change) => {
  const otherProcess = Promise.withResolvers<undefined>();
  const mutexHeld = bodyMutex(() => otherProcess.promise);
  const changed = change();
  const stored = traces.ingest([{ owner: TEAM_KEY, spans: [aSpan()] }]);
  const inserts = ['insert into span', 'insert into trace_by_start', 'insert into trace_summary'];
  try {
    // Nothing is deleted before the other process is done.
    await expect.poll(() => changes).toEqual(inserts);
    const [summary] = await stored;
    expect([summary?.traceRef, summary?.spanCount]).toEqual([NEW_REF, 1]);
  } finally {
    otherProcess.resolve(undefined);
    await Promise.all([mutexHeld, changed, stored]);
  }
  expect(changes.length).toBeGreaterThan(inserts.length);
});
