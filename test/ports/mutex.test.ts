import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import type { BodyReader } from '../../src/domain/traces/packed.ts';
import type { ClickHouse } from '../../src/persistence/clickhouse/client.ts';
import { createClickHouseRemoval } from '../../src/persistence/clickhouse/trace-removal.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import { createDatabaseMutex, createMutex, type Mutex } from '../../src/persistence/database/mutex.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

interface BodyVersion {
  readonly body_id: string;
  readonly version: number;
  readonly trace_ids: readonly string[];
  readonly base64: string;
}

/** A server with one body and all traces. `beforeAnswer` delays the answers of reads, as a slow connection does. */
function aServer(versions: BodyVersion[], beforeAnswer: (query: string) => Promise<unknown>) {
  const server: Pick<ClickHouse, 'rows' | 'run' | 'insert'> = {
    async rows<Row>(query: string, { ids }: Readonly<Record<string, unknown>> = {}) {
      const latest = versions.toSorted((left, right) => right.version - left.version).slice(0, 1);
      // No span refers to the body.
      const found = query.includes('from export_body') ? latest : [];
      const traces = query.includes('from trace_summary') ? (ids as string[]) : [];
      await beforeAnswer(query);
      return [
        ...found,
        ...traces.map((id) => ({ trace_id: id, trace_ref: id })),
      ] as readonly unknown[] as readonly Row[];
    },
    run(statement) {
      if (!statement.startsWith('alter table export_body')) return Promise.resolve();
      const before = Number(/version < (\d+)/.exec(statement)?.[1] ?? Number.MAX_VALUE);
      versions.splice(0, versions.length, ...versions.filter(({ version }) => version >= before));
      return Promise.resolve();
    },
    insert(_table, _columns, rows) {
      for (const row of rows) {
        const [id, , version, traceIds, , , base64] = JSON.parse(row) as [string, 0, number, string[], 0, 0, string];
        versions.push({ body_id: id, version, trace_ids: traceIds, base64 });
      }
      return Promise.resolve();
    },
  };
  return server as ClickHouse;
}

/** A body is the list of its traces, separated by spaces. */
const READER = {
  without: (body: { readonly bytes: Uint8Array }, traceIds: readonly string[]) => {
    const kept = Buffer.from(body.bytes)
      .toString()
      .split(' ')
      .filter((traceId) => !traceIds.includes(traceId));
    return Promise.resolve({ ...body, bytes: Buffer.from(kept.join(' ')) });
  },
} as unknown as BodyReader;

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`work of one process at a time on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let database: Database;
    /** The mutex of each of two processes. On SQLite there is one process. */
    let processes: readonly [Mutex, Mutex];
    beforeAll(async () => {
      scratch = await engine.create();
      database = await scratch.openBare();
      const first = createDatabaseMutex(database, 'trace bodies');
      const isShared = engine.name === 'postgresql';
      processes = [first, isShared ? createDatabaseMutex(await scratch.openBare(), 'trace bodies') : first];
    });
    afterAll(() => scratch.remove());

    /** Makes `count` queries one after another, so that other work may run. */
    async function rounds(count: number): Promise<void> {
      const db = database.orm.em.fork().getKysely<Tables>({ type: 'read' });
      // oxlint-disable-next-line no-await-in-loop -- one round after another
      for (let round = 0; round < count; round += 1) await sql`select 1`.execute(db);
    }

    it('runs one after another, also after a failure', async () => {
      const [first, second] = processes;
      const events: string[] = [];
      const work = (name: string) => async (): Promise<string> => {
        events.push(`${name} begins`);
        await rounds(5);
        events.push(`${name} ends`);
        return name;
      };
      const failed = first(() => Promise.reject(new Error('broken')));
      expect(await Promise.all([failed.catch(String), second(work('b')), first(work('c'))])).toEqual([
        'Error: broken',
        'b',
        'c',
      ]);
      const [earlier = '', later = ''] = events[0] === 'b begins' ? ['b', 'c'] : ['c', 'b'];
      expect(events).toEqual([`${earlier} begins`, `${earlier} ends`, `${later} begins`, `${later} ends`]);
    });

    it('removes the traces of two concurrent removals from one body of ClickHouse, and keeps the others', async () => {
      const all = ['a', 'b', 'c'];
      const base64 = Buffer.from(all.join(' ')).toString('base64');
      const versions: BodyVersion[] = [{ body_id: 'body', version: 1, trace_ids: all, base64 }];
      const [slowMutex, fastMutex] = processes;
      const bodyRead = Promise.withResolvers<undefined>();
      const slowServer = aServer(versions, (query) => {
        if (!query.includes('base64Encode')) return Promise.resolve();
        bodyRead.resolve(undefined);
        return rounds(10);
      });
      const fastServer = aServer(versions, () => Promise.resolve());
      const remove = (server: ClickHouse, bodyMutex: Mutex, id: string) =>
        createClickHouseRemoval(server, READER, { bodyMutex, traceMutex: createMutex() }).remove([
          { traceId: id, traceRef: id },
        ]);
      const slow = remove(slowServer, slowMutex, 'b');
      // The other process begins between the read and the write of the first one.
      await bodyRead.promise;
      expect(await Promise.all([slow, remove(fastServer, fastMutex, 'a')])).toEqual([1, 1]);
      expect(versions.map((left) => [left.trace_ids, Buffer.from(left.base64, 'base64').toString()])).toEqual([
        [['c'], 'c'],
      ]);
    });
  });
