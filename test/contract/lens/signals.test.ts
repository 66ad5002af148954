import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import type { Answer, Json } from '../../support/tenancy-client.ts';

let app: TestApp;
let upstream: Server;
const requests: Json[] = [];
/** Probability of yes by the name of the question. A question without a probability gets no answer. */
let probabilities: Readonly<Record<string, number>> = {};

beforeAll(async () => {
  upstream = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Json;
      requests.push(body);
      const questions = body['questions'] as readonly { readonly name: string }[];
      const answers = questions.flatMap(({ name }) =>
        probabilities[name] === undefined ? [] : [{ type: 'predicate', name, probability: probabilities[name] }],
      );
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ model: 'up', answers, usage: { input_tokens: 9, output_tokens: 1, total_tokens: 10 } }),
      );
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = upstream.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const params = { model: 'openai/up', api_base: `http://127.0.0.1:${port}/v1`, api_key: 'k' };
  const price = { input_cost_per_token: 0.001, output_cost_per_token: 0.001 };
  app = await startApp({
    config: { model_list: [{ model_name: 'decider', litellm_params: { ...params, ...price } }] },
    env: { LENSGATE_LENS_SIGNAL_SECONDS: '0.2', LENSGATE_LENS_WORKER_SLOTS: '0' },
  });
});

afterAll(async () => {
  await app.stop();
  upstream.closeAllConnections();
  upstream.close();
});

async function send(method: string, path: string, body?: unknown, key = app.adminKey): Promise<Answer> {
  const answer = await app.call(method, path, body, { authorization: key === '' ? '' : `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const newKey = async (draft: object): Promise<string> =>
  String((await send('POST', '/key/generate', draft)).body['key']);

const detail = (status: number, text: unknown) => ({ status, body: { detail: text } });
const SIGNALS = [
  { id: 'annoyed', name: 'Annoyed', question: 'Is the user annoyed?' },
  { id: 'again', name: 'Again', question: 'Does the user ask again?' },
];
const CONFIG = { model: 'decider', threshold: 0.6, signals: SIGNALS };

async function signalsOf(traceId: string): Promise<Json> {
  const { data } = (await send('GET', '/v1/traces')).body as { readonly data: readonly Json[] };
  const trace = data.find(({ trace_id: id }) => id === traceId);
  const request = { traces: [{ trace_id: traceId, trace_ref: trace?.['trace_ref'] }] };
  const rows = (await send('POST', '/lens/traces/signals', request)).body as unknown as readonly Json[];
  return rows[0] ?? {};
}

describe('signals of traces', () => {
  it('lens.signals 200, lens.setSignals 200: three questions and no model by default', async () => {
    const defaults = {
      model: '',
      threshold: 0.5,
      signals: ['user_frustration', 'missing_capability', 'repeated_request'].map((id) => ({
        id,
        name: expect.any(String),
        question: expect.any(String),
      })),
    };
    expect(await send('GET', '/lens/signals')).toEqual({ status: 200, body: defaults });
    expect(await send('PUT', '/lens/signals', { threshold: '0.7' })).toEqual({
      status: 200,
      body: { ...defaults, threshold: 0.7 },
    });
    expect(await send('PUT', '/lens/signals', {})).toEqual({ status: 200, body: defaults });
  });

  it('lens.traceSignals 200: signals of new traces are decided once, and flagged above the threshold', async () => {
    const [run] = syntheticRuns(1, 51);
    if (run === undefined) throw new Error('No run was made.');
    const { traceId } = run;
    await send('POST', '/v1/traces', exportOf([run], Date.now() - 3_600_000));
    expect(await signalsOf(traceId)).toMatchObject({ status: 'unclassified', flags: [], classified_at: null });
    probabilities = { annoyed: 0.61, again: 0.9 };
    expect((await send('PUT', '/lens/signals', CONFIG)).body).toEqual(CONFIG);
    await expect.poll(async () => (await signalsOf(traceId))['status']).toBe('classified');
    expect(await signalsOf(traceId)).toEqual({
      trace_id: traceId,
      trace_ref: expect.any(String),
      status: 'classified',
      flags: [
        { signal_id: 'again', name: 'Again', score: 0.9 },
        { signal_id: 'annoyed', name: 'Annoyed', score: 0.61 },
      ],
      model: 'decider',
      classified_at: expect.stringMatching(/Z$/),
    });
    const state = JSON.parse(String(requests[0]?.['input'])) as { readonly steps: readonly Json[] };
    expect(state.steps[0]).toMatchObject({ kind: 'agent', name: 'shop agent' });
    const query = `{ trace(id: "${traceId}") { signals { status flags { signalId score } } } }`;
    expect((await send('POST', '/graphql', { query })).body['data']).toEqual({
      trace: {
        signals: [
          {
            status: 'CLASSIFIED',
            flags: [
              { signalId: 'again', score: 0.9 },
              { signalId: 'annoyed', score: 0.61 },
            ],
          },
        ],
      },
    });
    // A higher threshold shows fewer flags without a new call. The analysis key paid for the 10 tokens of the first
    // call.
    await send('PUT', '/lens/signals', { ...CONFIG, threshold: 0.8 });
    expect(((await signalsOf(traceId))['flags'] as readonly Json[]).map(({ signal_id: id }) => id)).toEqual(['again']);
    const { keys } = (await send('GET', '/key/list?key_alias=lens-analysis&return_full_object=true')).body as {
      readonly keys: readonly Json[];
    };
    expect(keys).toMatchObject([{ spend: 0.01 }]);
    const jobs = (await send('POST', '/graphql', { query: '{ jobs(kind: "lens-signals") { status attempts } }' })).body;
    expect(jobs['data']).toEqual({ jobs: [{ status: 'COMPLETED', attempts: 1 }] });
    expect(requests).toHaveLength(1);
    // The call for signals is a named trace without the text of the analysed trace. Lists can exclude it.
    const names = `nodes { name tags spans(first: 5) { nodes { name parentSpanId input output } } }`;
    const lists = `{ own: traces(first: 5, filter: { internal: true }) { totalCount ${names} }
      others: traces(first: 5, filter: { internal: false }) { nodes { traceId } } }`;
    await expect
      .poll(async () => (await send('POST', '/graphql', { query: lists })).body['data'])
      .toEqual({
        own: {
          totalCount: 1,
          nodes: [
            {
              name: 'decide decider',
              tags: ['litellm-lens'],
              spans: { nodes: [{ name: 'decide decider', parentSpanId: null, input: null, output: null }] },
            },
          ],
        },
        others: { nodes: [{ traceId }] },
      });
  });

  it('lens.traceSignals 200: changed questions are sent again, and a question without an answer makes the signals fail', async () => {
    const [run] = syntheticRuns(1, 51);
    probabilities = { annoyed: 0.9 };
    // Questions in another order are changed questions. The upstream answers only one of them.
    await send('PUT', '/lens/signals', { ...CONFIG, signals: SIGNALS.toReversed() });
    await expect.poll(async () => (await signalsOf(run?.traceId ?? ''))['status']).toBe('failed');
    expect(await signalsOf(run?.traceId ?? '')).toMatchObject({ flags: [], classified_at: null });
    await send('PUT', '/lens/signals', { ...CONFIG, signals: [] });
  });

  it('lens.setSignals 400: a model that is not configured', async () => {
    expect(await send('PUT', '/lens/signals', { model: 'unknown' })).toEqual(
      detail(400, 'Choose a System 1 model (evaluation mode) configured on this proxy'),
    );
  });

  it('lens.setSignals 422, lens.traceSignals 422: names each invalid member', async () => {
    const issue = (type: string, loc: readonly (string | number)[], msg: string) => ({
      type,
      loc: ['body', ...loc],
      msg,
    });
    expect(
      await send('PUT', '/lens/signals', { threshold: 1, signals: [{ id: 'A', name: '', question: 'q' }] }),
    ).toEqual(
      detail(422, [
        issue('less_than_equal', ['threshold'], 'Input should be less than or equal to 0.95'),
        issue('string_pattern_mismatch', ['signals', 0, 'id'], "String should match pattern '^[a-z][a-z0-9_]{0,63}$'"),
        issue('string_too_short', ['signals', 0, 'name'], 'String should have at least 1 character'),
        issue('string_too_short', ['signals', 0, 'question'], 'String should have at least 3 characters'),
      ]),
    );
    expect(await send('PUT', '/lens/signals', { signals: [SIGNALS[0], SIGNALS[0]] })).toEqual(
      detail(422, [issue('value_error', ['signals'], 'Value error, Signal IDs must be unique')]),
    );
    const many = Array.from({ length: 21 }, (_one, index) => ({ ...SIGNALS[0], id: `s${index}` }));
    expect(await send('PUT', '/lens/signals', { signals: many })).toEqual(
      detail(422, [issue('value_error', ['signals'], 'Value error, A maximum of 20 signals is allowed')]),
    );
    expect(await send('POST', '/lens/traces/signals', {})).toEqual(
      detail(422, [issue('missing', ['traces'], 'Field required')]),
    );
  });

  it('lens.signals, lens.setSignals, lens.traceSignals 401: no key; 403: keys without the required administrator role', async () => {
    const userKey = await newKey({});
    const viewer = await newKey({ user_role: 'proxy_admin_viewer' });
    const body = { traces: [{ trace_id: 'a'.repeat(32) }] };
    const readRefused = detail(403, 'Lens requires proxy administrator access');
    const writeRefused = detail(403, 'Only proxy admins can configure or run Lens');
    for (const [method, path, payload] of [
      ['GET', '/lens/signals', undefined],
      ['PUT', '/lens/signals', {}],
      ['POST', '/lens/traces/signals', body],
    ] as const) {
      expect((await send(method, path, payload, '')).status).toBe(401);
      expect(await send(method, path, payload, userKey)).toEqual(method === 'PUT' ? writeRefused : readRefused);
      expect((await send(method, path, payload, viewer)).status).toBe(method === 'PUT' ? 403 : 200);
    }
  });
});
