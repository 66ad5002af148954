import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeModel } from '../../../bench/lens/judge-server.ts';
import { exportOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { executionIdOf } from '../../../src/domain/lens/execution.ts';
import { ENGINES, type ScratchDatabase } from '../../ports/engines.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import type { Json } from '../../support/tenancy-client.ts';

const [RUN] = syntheticRuns(1, 81);
const TRACE = RUN?.traceId ?? '';
const NUL_AND_SURROGATE = 'a\0b\ud800';
/** Ids and texts that may cause errors in a store. */
const ODD = [NUL_AND_SURROGATE, '%', "' or 1=1 --", '../..', '\u{1F600}'.repeat(300), '__proto__'];
const LENS = { name: 'l', model: 'judge', context: 'c', enabled: false };

for (const engine of ENGINES)
  describe.skipIf(engine.missing !== null)(`ids and texts of a client on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let app: TestApp;
    let foreign = '';
    beforeAll(async () => {
      scratch = await engine.create();
      const { env, ...options } = scratch.appOptions;
      app = await startApp({
        config: { model_list: [judgeModel('http://127.0.0.1:1/v1')] },
        ...options,
        env: { LENSGATE_LENS_WORKER_SLOTS: '0', ...env },
      });
      await app.call('POST', '/v1/traces', exportOf(RUN === undefined ? [] : [RUN], Date.now() - 3_600_000));
      const created = (await (await app.call('POST', '/key/generate', { team_id: 'other' })).json()) as Json;
      foreign = String(created['key']);
    });
    afterAll(async () => {
      await app.stop({ keepData: true });
      await scratch.remove();
    });

    async function send(method: string, path: string, body?: unknown, key = app.adminKey) {
      const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
      return { status: answer.status, body: (await answer.json().catch(() => null)) as Json };
    }
    const graph = async (query: string, variables: object, key?: string) =>
      (await send('POST', '/graphql', { query, variables }, key)).body as {
        readonly data: Json | null;
        readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
      };

    it('cause no server error in paths and bodies', async () => {
      const lens = (await send('POST', '/lens', LENS)).body;
      const id = String(lens['id']);
      const dataset = String((await send('POST', '/lens/datasets', { name: NUL_AND_SURROGATE })).body['id']);
      for (const odd of ODD) {
        const at = encodeURIComponent(odd.toWellFormed());
        const executionId = executionIdOf('', { traceId: odd, traceRef: odd });
        const execution = encodeURIComponent(executionId);
        const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
          ['GET', `/lens/${at}`],
          ['GET', `/lens/${at}/runs`],
          ['POST', `/lens/${at}/runs`, {}],
          ['GET', `/lens/${id}/runs/${at}`],
          ['GET', `/lens/${id}/runs/${at}/reviews`],
          ['GET', `/lens/${id}/executions/${at}`],
          ['GET', `/lens/${id}/executions/${execution}`],
          ['PATCH', `/lens/${id}/findings/${at}`, { status: 'open', reason: odd }],
          ['PUT', `/lens/${id}`, { ...LENS, name: odd, context: odd, service: odd, agent_name: odd, team_id: odd }],
          ['PUT', `/lens/${id}`, { ...LENS, execution_ids: [executionId] }],
          ['POST', '/lens', { ...LENS, model: odd }],
          ['POST', '/lens/preview/sample', { selection: { service: odd, agent_name: odd, team_id: odd } }],
          ['POST', '/lens/preview/sample', { selection: { execution_ids: [executionId] } }],
          ['POST', '/lens/preview/sample', { selection: { filters: [{ key: odd, value: odd }] } }],
          ['POST', '/lens/traces/findings', { traces: [{ trace_id: odd, trace_ref: odd }] }],
          ['POST', '/lens/traces/signals', { traces: [{ trace_id: odd, trace_ref: odd }] }],
          ['PUT', '/lens/feedback', { trace_id: odd, score: 1, comment: odd, user: odd }],
          ['PUT', '/lens/feedback', { trace_id: TRACE, score: 1, comment: odd, user: odd.slice(0, 200) }],
          ['GET', `/lens/feedback?trace_id=${at}`],
          ['GET', `/lens/datasets/${at}`],
          ['POST', `/lens/datasets/${at}/revisions`, { base_revision: 0, cases: [] }],
          [
            'POST',
            '/lens/datasets/build',
            { sources: [{ kind: 'trace', trace_id: odd, trace_ref: odd, span_id: odd }] },
          ],
          ['POST', '/lens/datasets/build', { sources: [{ kind: 'finding', lens_id: odd, finding_ids: [odd] }] }],
          ['POST', '/lens/datasets/build', { sources: [{ kind: 'text', text: odd }], dataset_id: dataset }],
          ['POST', '/lens/tracing/keys', { name: odd.slice(0, 100), team_id: odd.slice(0, 100) }],
          ['DELETE', `/lens/tracing/keys/${at}`],
          ['PUT', `/lens/workers/${at}/billing-key`, { analysis_key_id: 'a'.repeat(64) }],
          ['DELETE', `/lens/workers/${at}`],
          [
            'PUT',
            '/lens/signals',
            { signals: [{ id: 'a', name: odd.slice(0, 40), question: `${odd.slice(0, 200)}???` }] },
          ],
        ];
        for (const [method, path, body] of calls) {
          const { status } = await send(method, path, body);
          expect([method, path, body, status < 500]).toEqual([method, path, body, true]);
        }
      }
      expect((await send('GET', `/lens/${id}`)).status).toBe(200);
    });

    it('cause no errors except NOT_FOUND and INVALID_INPUT in the graph', async () => {
      const query = `query ($id: ID!, $text: String!, $after: String!) {
        lens(id: $id) { name } dataset(id: $id) { revision } node(id: $id) { id }
        findings(filter: { lensId: $id }) { totalCount } next: findings(after: $after) { totalCount } jobs(kind: $text) { id }
        lensSamplePreview(input: { selection: { service: $text, agentName: $text, teamId: $text } }) { eligible }
        lensExecution(lensId: $id, executionId: $id) { nextCursor }
        traces(filter: { tag: $text, internal: false }) { totalCount }
      }`;
      for (const odd of ODD) {
        const after = Buffer.from(JSON.stringify(['2026-01-01T00:00:00Z', odd])).toString('base64url');
        for (const id of [
          odd,
          ...['Lens', 'Finding', 'LensRun', 'DatasetSummary', 'TracingKey'].map((type) => globalIdOf(type, odd)),
        ]) {
          const { errors = [] } = await graph(query, { id, text: odd, after });
          for (const { extensions } of errors) expect(extensions.code).toBeOneOf(['NOT_FOUND', 'INVALID_INPUT']);
        }
      }
    });

    it('that exist look like unknown ones to a key of another team', async () => {
      const lens = String((await send('POST', '/lens', LENS)).body['id']);
      const dataset = String((await send('POST', '/lens/datasets', { name: 'd' })).body['id']);
      const record = (await send('POST', '/lens/tracing/keys', { name: 'k' })).body['record'] as Json;
      const real = [
        globalIdOf('Lens', lens),
        globalIdOf('DatasetSummary', dataset),
        globalIdOf('TracingKey', String(record['id'])),
      ];
      const unknown = [globalIdOf('Lens', 'x'), globalIdOf('DatasetSummary', 'x'), globalIdOf('TracingKey', 'x')];
      const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
      const none = { data: { nodes: [null, null, null] } };
      expect(await graph(nodes, { ids: real }, foreign)).toEqual(none);
      expect(await graph(nodes, { ids: unknown }, foreign)).toEqual(none);
      expect((await graph(nodes, { ids: real })).data).toEqual({ nodes: real.map((id) => ({ id })) });
      for (const [one, other] of [
        [`/lens/${lens}`, '/lens/none'],
        [`/lens/datasets/${dataset}`, '/lens/datasets/none'],
        [`/lens/feedback?trace_id=${TRACE}`, `/lens/feedback?trace_id=${'0'.repeat(32)}`],
      ])
        expect(await send('GET', one ?? '', undefined, foreign)).toEqual(
          await send('GET', other ?? '', undefined, foreign),
        );
      const set = (traceId: string) => send('PUT', '/lens/feedback', { trace_id: traceId, score: 1 }, foreign);
      expect(await set(TRACE)).toEqual(await set('f'.repeat(32)));
      // Only proxy administrators may build cases.
      const build = { sources: [{ kind: 'trace', trace_id: TRACE }] };
      expect((await send('POST', '/lens/datasets/build', build, foreign)).status).toBe(403);
    });
  });

const globalIdOf = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');
