import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceUpdatesDocument } from '../../graph/generated/graphql.ts';
import { overEventStream } from '../../graph/subscribers.ts';
import { DATABASES, type ScratchDatabase } from '../../ports/engines.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, configOver, formOf, serveFiles, lineFor, send } from '../files/file-client.ts';
import { as, makeKey, otlpExport, otlpSpan, send as sendTrace, WINDOW } from '../traces/trace-client.ts';

/** Origins of a key with a blank team: a request, or a row from before the migration of blank ids. */
const ORIGINS = ['REST', 'graph', 'an old row'] as const;
const BLANKS = ['', ' \t'] as const;

interface CreatedObjects {
  readonly file: string;
  readonly batch: string;
  readonly response: string;
  readonly traceId: string;
}

for (const engine of DATABASES)
  describe.skipIf(engine.skipReason !== null)(
    `a key with a blank team is a key without a team, on ${engine.name}`,
    () => {
      let scratch: ScratchDatabase;
      let upstream: FaultServer;
      let app: TestApp;
      /** Another key without a team. */
      let ownerKey: string;
      /** Objects of `ownerKey`. */
      let ownerObjects: CreatedObjects;
      let traceCount = 0;

      beforeAll(async () => {
        scratch = await engine.create();
        upstream = await startFaultServer();
        serveFiles(upstream);
        app = await startApp({
          config: { ...configOver(upstream), general_settings: { demo_model: true } },
          ...scratch.appOptions,
        });
        ownerKey = await makeKey(app);
        ownerObjects = await createObjects(ownerKey);
      });
      afterAll(async () => {
        await app.stop({ keepData: scratch.options.databaseUrl === null });
        await upstream.stop();
        await scratch.remove();
      });

      function nextTraceId(): string {
        traceCount += 1;
        return traceCount.toString(16).padStart(32, '0');
      }
      const traceOf = (traceId: string) => otlpExport(otlpSpan('1', 0, 1, {}, { traceId, name: 'run' }));

      /** Creates a file, a batch, a response and a trace with a key. */
      async function createObjects(key: string): Promise<CreatedObjects> {
        const traceId = nextTraceId();
        const idOf = async (answer: Promise<Response>): Promise<string> =>
          ((await (await answer).json()) as { readonly id: string }).id;
        const file = await idOf(
          send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'batch' }, `${lineFor('assistant')}\n`) }),
        );
        const batchRequest = { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' };
        const batch = await idOf(send(app, 'POST', '/v1/batches', { key, body: JSON.stringify(batchRequest) }));
        const response = await idOf(
          app.call('POST', '/v1/responses', { model: 'demo', input: 'private words' }, as(key)),
        );
        expect((await sendTrace(app, traceOf(traceId), as(key))).status).toBe(200);
        return { file, batch, response, traceId };
      }

      async function blankKey(origin: (typeof ORIGINS)[number], blank: string): Promise<string> {
        if (origin === 'REST') return await makeKey(app, { team_id: blank, user_id: blank, key_alias: blank });
        if (origin === 'graph') {
          const query = `mutation ($input: GenerateKeyInput!) {
            generateKey(input: $input) { ... on GeneratedKey { key } } }`;
          const input = { teamId: blank, userId: blank, alias: blank };
          const response = await app.call('POST', '/graphql', { query, variables: { input } });
          const { data } = (await response.json()) as { data: { generateKey: { key: string } } };
          return data.generateKey.key;
        }
        const key = await makeKey(app, { key_alias: 'old row' });
        const database = await scratch.openBare();
        await database.orm.em
          .fork()
          .execute('update virtual_key set team_id = ?, user_id = ?, alias = null where alias = ?', [
            blank,
            blank,
            'old row',
          ]);
        return key;
      }

      const ask = async (method: string, path: string, key: string): Promise<readonly [number, unknown]> =>
        answerOf(await send(app, method, path, { key }));
      const idsIn = async (path: string, key: string): Promise<readonly string[]> => {
        const [, list] = await ask('GET', path, key);
        const { data } = list as { data: readonly { readonly id?: string; readonly trace_id?: string }[] };
        return data.map(({ id, trace_id: traceId }) => id ?? traceId ?? '').toSorted();
      };
      const idsInLists = async (key: string) => ({
        files: await idsIn('/v1/files', key),
        batches: await idsIn('/v1/batches', key),
        traces: await idsIn(`/v1/traces?${WINDOW}`, key),
      });

      const notFound = (message: string) => [
        404,
        { error: { message, type: 'not_found_error', param: null, code: '404' } },
      ];

      describe.each(ORIGINS)('a key from %s', (origin) => {
        it.each(BLANKS)('team %j: reads, cancels and deletes nothing of another key without a team', async (blank) => {
          const key = await blankKey(origin, blank);
          const [, info] = await ask('GET', '/key/info', key);
          expect(info).toMatchObject({ info: { team_id: null, user_id: null, key_alias: null } });
          expect(await idsInLists(key)).toEqual({ files: [], batches: [], traces: [] });
          const noFile = notFound(`No such File object: ${ownerObjects.file}`);
          const noBatch = notFound(`No batch found with id '${ownerObjects.batch}'.`);
          const noResponse = notFound(`Response with id '${ownerObjects.response}' not found.`);
          for (const [method, path, answer] of [
            ['GET', `/v1/files/${ownerObjects.file}`, noFile],
            ['GET', `/v1/files/${ownerObjects.file}/content`, noFile],
            ['DELETE', `/v1/files/${ownerObjects.file}`, noFile],
            ['GET', `/v1/batches/${ownerObjects.batch}`, noBatch],
            ['POST', `/v1/batches/${ownerObjects.batch}/cancel`, noBatch],
            ['GET', `/v1/responses/${ownerObjects.response}`, noResponse],
            ['GET', `/v1/responses/${ownerObjects.response}/input_items`, noResponse],
            ['DELETE', `/v1/responses/${ownerObjects.response}`, noResponse],
            ['GET', `/v1/traces/${ownerObjects.traceId}`, [404, { detail: `Trace ${ownerObjects.traceId} not found` }]],
          ] as const)
            expect([method, path, await ask(method, path, key)]).toEqual([method, path, answer]);
        });

        it('is the only owner of its objects, and its live feed shows only its own traces', async () => {
          const key = await blankKey(origin, '');
          const feed = overEventStream(`${app.url}/graphql`, TraceUpdatesDocument, {}, key);
          // The feed is open when it shows a trace of the key.
          await expect
            .poll(async () => {
              if (feed.received.length === 0) await sendTrace(app, traceOf(nextTraceId()), as(key));
              return feed.received.length;
            })
            .toBeGreaterThan(0);
          const foreignObjects = await createObjects(ownerKey);
          const ownObjects = await createObjects(key);
          const feedTraceIds = (): readonly unknown[] =>
            feed.received.map((event) => (event as TraceEvent).data.traceUpdates.trace.traceId);
          await expect.poll(feedTraceIds).toContain(ownObjects.traceId);
          expect(feedTraceIds()).not.toContain(foreignObjects.traceId);
          await feed.leave();
          const lists = await idsInLists(key);
          expect(lists.files).toContain(ownObjects.file);
          expect(lists.files).not.toContain(foreignObjects.file);
          expect(await idsIn('/v1/files', ownerKey)).not.toContain(ownObjects.file);
          expect((await ask('GET', `/v1/files/${ownObjects.file}`, key))[0]).toBe(200);
          expect((await ask('GET', `/v1/batches/${ownObjects.batch}`, key))[0]).toBe(200);
          expect((await ask('GET', `/v1/responses/${ownObjects.response}`, key))[0]).toBe(200);
          expect((await ask('GET', `/v1/files/${ownObjects.file}`, ownerKey))[0]).toBe(404);
          expect((await ask('GET', `/v1/responses/${ownObjects.response}`, ownerKey))[0]).toBe(404);
        });
      });

      it('objects that the other key without a team created still belong to it', async () => {
        expect((await ask('GET', `/v1/files/${ownerObjects.file}`, ownerKey))[0]).toBe(200);
        expect((await ask('GET', `/v1/responses/${ownerObjects.response}`, ownerKey))[0]).toBe(200);
        expect((await idsInLists(ownerKey)).batches).toContain(ownerObjects.batch);
      });
    },
  );

interface TraceEvent {
  readonly data: { readonly traceUpdates: { readonly trace: { readonly traceId: string } } };
}
