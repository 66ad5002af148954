import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeModel } from '../../../bench/lens/judge-server.ts';
import { exportOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { executionIdOf } from '../../../src/domain/lens/execution.ts';
import { ENGINES, type ScratchDatabase } from '../../ports/engines.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import type { Json } from '../../support/tenancy-client.ts';

const [AGENT_RUN] = syntheticRuns(1, 81);
const TRACE_ID = AGENT_RUN?.traceId ?? '';
const NUL_AND_SURROGATE = 'a\0b\ud800';
/** Ids and texts that may cause errors in a store. */
const HOSTILE_TEXTS = [NUL_AND_SURROGATE, '%', "' or 1=1 --", '../..', '\u{1F600}'.repeat(300), '__proto__'];
const LENS = { name: 'l', model: 'judge', context: 'c', enabled: false };

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`ids and texts of a client on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let app: TestApp;
    let foreignKey = '';
    beforeAll(async () => {
      scratch = await engine.create();
      const { env, ...options } = scratch.appOptions;
      app = await startApp({
        config: { model_list: [judgeModel('http://127.0.0.1:1/v1')] },
        ...options,
        env: { LENSGATE_LENS_WORKER_SLOTS: '0', ...env },
      });
      await app.call(
        'POST',
        '/v1/traces',
        exportOf(AGENT_RUN === undefined ? [] : [AGENT_RUN], Date.now() - 3_600_000),
      );
      const created = (await (await app.call('POST', '/key/generate', { team_id: 'other' })).json()) as Json;
      foreignKey = String(created['key']);
    });
    afterAll(async () => {
      await app.stop({ keepData: scratch.options.databaseUrl === null });
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
      for (const text of HOSTILE_TEXTS) {
        const encoded = encodeURIComponent(text.toWellFormed());
        const executionId = executionIdOf('', { traceId: text, traceRef: text });
        const encodedExecutionId = encodeURIComponent(executionId);
        const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
          ['GET', `/lens/${encoded}`],
          ['GET', `/lens/${encoded}/runs`],
          ['POST', `/lens/${encoded}/runs`, {}],
          ['GET', `/lens/${id}/runs/${encoded}`],
          ['GET', `/lens/${id}/runs/${encoded}/reviews`],
          ['GET', `/lens/${id}/executions/${encoded}`],
          ['GET', `/lens/${id}/executions/${encodedExecutionId}`],
          ['PATCH', `/lens/${id}/findings/${encoded}`, { status: 'open', reason: text }],
          [
            'PUT',
            `/lens/${id}`,
            { ...LENS, name: text, context: text, service: text, agent_name: text, team_id: text },
          ],
          ['PUT', `/lens/${id}`, { ...LENS, execution_ids: [executionId] }],
          ['POST', '/lens', { ...LENS, model: text }],
          ['POST', '/lens/preview/sample', { selection: { service: text, agent_name: text, team_id: text } }],
          ['POST', '/lens/preview/sample', { selection: { execution_ids: [executionId] } }],
          ['POST', '/lens/preview/sample', { selection: { filters: [{ key: text, value: text }] } }],
          ['POST', '/lens/traces/findings', { traces: [{ trace_id: text, trace_ref: text }] }],
          ['POST', '/lens/traces/signals', { traces: [{ trace_id: text, trace_ref: text }] }],
          ['PUT', '/lens/feedback', { trace_id: text, score: 1, comment: text, user: text }],
          ['PUT', '/lens/feedback', { trace_id: TRACE_ID, score: 1, comment: text, user: text.slice(0, 200) }],
          ['GET', `/lens/feedback?trace_id=${encoded}`],
          ['GET', `/lens/datasets/${encoded}`],
          ['POST', `/lens/datasets/${encoded}/revisions`, { base_revision: 0, cases: [] }],
          [
            'POST',
            '/lens/datasets/build',
            { sources: [{ kind: 'trace', trace_id: text, trace_ref: text, span_id: text }] },
          ],
          ['POST', '/lens/datasets/build', { sources: [{ kind: 'finding', lens_id: text, finding_ids: [text] }] }],
          ['POST', '/lens/datasets/build', { sources: [{ kind: 'text', text }], dataset_id: dataset }],
          ['POST', '/lens/tracing/keys', { name: text.slice(0, 100), team_id: text.slice(0, 100) }],
          ['DELETE', `/lens/tracing/keys/${encoded}`],
          ['PUT', `/lens/workers/${encoded}/billing-key`, { analysis_key_id: 'a'.repeat(64) }],
          ['DELETE', `/lens/workers/${encoded}`],
          [
            'PUT',
            '/lens/signals',
            { signals: [{ id: 'a', name: text.slice(0, 40), question: `${text.slice(0, 200)}???` }] },
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
      for (const text of HOSTILE_TEXTS) {
        const after = Buffer.from(JSON.stringify(['2026-01-01T00:00:00Z', text])).toString('base64url');
        for (const id of [
          text,
          ...['Lens', 'Finding', 'LensRun', 'DatasetSummary', 'TracingKey'].map((type) => globalIdOf(type, text)),
        ]) {
          const { errors = [] } = await graph(query, { id, text, after });
          for (const { extensions } of errors) expect(extensions.code).toBeOneOf(['NOT_FOUND', 'INVALID_INPUT']);
        }
      }
    });

    it('that name objects without access get the same answers as unknown ids', async () => {
      const lens = String((await send('POST', '/lens', LENS)).body['id']);
      const dataset = String((await send('POST', '/lens/datasets', { name: 'd' })).body['id']);
      const record = (await send('POST', '/lens/tracing/keys', { name: 'k' })).body['record'] as Json;
      const existingIds = [
        globalIdOf('Lens', lens),
        globalIdOf('DatasetSummary', dataset),
        globalIdOf('TracingKey', String(record['id'])),
      ];
      const unknownIds = [globalIdOf('Lens', 'x'), globalIdOf('DatasetSummary', 'x'), globalIdOf('TracingKey', 'x')];
      const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
      const noNodes = { data: { nodes: [null, null, null] } };
      expect(await graph(nodes, { ids: existingIds }, foreignKey)).toEqual(noNodes);
      expect(await graph(nodes, { ids: unknownIds }, foreignKey)).toEqual(noNodes);
      expect((await graph(nodes, { ids: existingIds })).data).toEqual({ nodes: existingIds.map((id) => ({ id })) });
      for (const [existingPath, unknownPath] of [
        [`/lens/${lens}`, '/lens/none'],
        [`/lens/datasets/${dataset}`, '/lens/datasets/none'],
        [`/lens/feedback?trace_id=${TRACE_ID}`, `/lens/feedback?trace_id=${'0'.repeat(32)}`],
      ])
        expect(await send('GET', existingPath ?? '', undefined, foreignKey)).toEqual(
          await send('GET', unknownPath ?? '', undefined, foreignKey),
        );
      const sendFeedback = (traceId: string) =>
        send('PUT', '/lens/feedback', { trace_id: traceId, score: 1 }, foreignKey);
      expect(await sendFeedback(TRACE_ID)).toEqual(await sendFeedback('f'.repeat(32)));
      // Only proxy administrators may build cases.
      const build = { sources: [{ kind: 'trace', trace_id: TRACE_ID }] };
      expect((await send('POST', '/lens/datasets/build', build, foreignKey)).status).toBe(403);
    });
  });

const globalIdOf = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');
