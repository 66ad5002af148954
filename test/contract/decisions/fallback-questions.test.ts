import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';

interface UpstreamRequest {
  readonly model: string;
  readonly questions: Readonly<Record<string, unknown>>;
}

let app: TestApp;
let upstream: FaultServer;
let upstreamRequests: UpstreamRequest[] = [];
/** Probabilities of yes by upstream model and question. A model refuses the questions that are not listed for it. */
let answers: Readonly<Record<string, Readonly<Record<string, number>>>> = {};
let brokenModels: ReadonlySet<string> = new Set();

beforeAll(async () => {
  upstream = await startFaultServer();
  const model = (name: string) => ({
    model_name: name,
    litellm_params: {
      model: `perplexity/${name}`,
      api_base: upstream.url,
      api_key: 'upstream-key',
      input_cost_per_token: 0.001,
      output_cost_per_token: 0,
    },
  });
  app = await startApp({
    config: {
      model_list: ['one', 'two', 'three', 'alone'].map(model),
      router_settings: { fallbacks: [{ one: ['two', 'three'] }] },
      // A limit of `x_label_mass`, not of a probability. The answers of this upstream have no `x_label_mass`.
      general_settings: { decision_fallback_below: 0.5, store_decisions: 'full' },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

beforeEach(() => {
  upstreamRequests = [];
  brokenModels = new Set();
  upstream.answer((response, _socket, { body }) => {
    const call = JSON.parse(body) as UpstreamRequest;
    upstreamRequests.push(call);
    if (brokenModels.has(call.model)) {
      response.writeHead(500, { 'content-type': 'application/json' });
      return void response.end('{"error":{"message":"broken"}}');
    }
    const modelAnswers = Object.keys(call.questions).flatMap((name) => {
      const probability = answers[call.model]?.[name];
      // `noul` is the wire name of a yes-or-no question in this format, and of its probability.
      return probability === undefined ? [] : [[name, { type: 'noul', noul: probability }] as const];
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        model: `${call.model}-1`,
        answers: Object.fromEntries(modelAnswers),
        usage: { input_tokens: 10, output_tokens: modelAnswers.length },
      }),
    );
  });
});

const QUESTIONS = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { type: 'noul', instructions: name }]));
const questionsByModel = () => upstreamRequests.map(({ model, questions }) => [model, Object.keys(questions)]);

async function decide(model: string, headers: Record<string, string> = {}, members: object = {}) {
  const body = { model, state: 'a ticket', questions: QUESTIONS, ...members };
  const response = await app.call('POST', '/v1/systemone', body, headers);
  const { headers: answerHeaders } = response;
  return {
    status: response.status,
    cost: answerHeaders.get('x-litellm-response-cost'),
    callId: answerHeaders.get('x-litellm-call-id'),
    group: answerHeaders.get('x-litellm-model-group'),
    body: (await response.json()) as { readonly answers: unknown; readonly usage: unknown },
  };
}

describe('refused questions of a decision', () => {
  it('are sent to the fallbacks, in order, until each has an answer', async () => {
    answers = { one: { b: 0.1 }, two: { a: 0.2, d: 0.3 }, three: { c: 0.4 } };
    const { status, body, cost, group, callId } = await decide('one');
    expect(status).toBe(200);
    expect(questionsByModel()).toEqual([
      ['one', ['a', 'b', 'c', 'd']],
      ['two', ['a', 'c', 'd']],
      ['three', ['c']],
    ]);
    expect(body).toMatchObject({
      model: 'one-1',
      answers: {
        a: { noul: 0.2, x_model: 'perplexity/two' },
        b: { noul: 0.1, x_model: 'perplexity/one' },
        c: { noul: 0.4, x_model: 'perplexity/three' },
        d: { noul: 0.3, x_model: 'perplexity/two' },
      },
      usage: { input_tokens: 30, output_tokens: 4 },
    });
    expect(Object.keys(body.answers as object)).toEqual(['a', 'b', 'c', 'd']);
    expect([Number(cost), group]).toEqual([0.03, 'one']);
    // Each call has one spend row, in the same trace.
    await vi.waitFor(async () => {
      const query = `{ spendRows(first: 50) { edges { node { gatewayCallId modelGroup costUsd traceId } } } }`;
      const { data } = (await (await app.call('POST', '/graphql', { query })).json()) as {
        readonly data: {
          readonly spendRows: {
            readonly edges: readonly {
              readonly node: Readonly<Record<'gatewayCallId' | 'modelGroup' | 'costUsd' | 'traceId', string>>;
            }[];
          };
        };
      };
      const nodes = data.spendRows.edges.map(({ node }) => node);
      const trace = nodes.find((node) => node.gatewayCallId === callId)?.traceId;
      const rowsOfTrace = nodes.filter(({ traceId }) => traceId === trace);
      expect(rowsOfTrace.map(({ modelGroup, costUsd }) => [modelGroup, costUsd].join(' ')).toSorted()).toEqual([
        'one 0.01',
        'three 0.01',
        'two 0.01',
      ]);
    }, POLLING);
  });

  it('stay refused if no fallback answers them', async () => {
    answers = { one: { a: 0.1, b: 0.1, c: 0.1 }, two: {}, three: {} };
    const { body } = await decide('one');
    expect(questionsByModel().slice(1)).toEqual([
      ['two', ['d']],
      ['three', ['d']],
    ]);
    expect(Object.keys(body.answers as object)).toEqual(['a', 'b', 'c']);
  });

  it('are sent to the next fallback if a fallback fails', async () => {
    answers = { one: { a: 0.1, b: 0.1, c: 0.1 }, three: { d: 0.7 } };
    brokenModels = new Set(['two']);
    const { status, body, cost } = await decide('one');
    expect([status, Number(cost)]).toEqual([200, 0.02]);
    expect(body.answers).toMatchObject({ d: { noul: 0.7, x_model: 'perplexity/three' } });
  });

  it('are not sent again if fallbacks are missing or disabled, or if no question is refused', async () => {
    answers = { alone: { a: 0.1 }, one: { a: 0.1 } };
    const { body } = await decide('alone');
    expect(body.answers).toEqual({ a: { type: 'noul', noul: 0.1 } });
    await decide('one', {}, { disable_fallbacks: true });
    expect(questionsByModel().map(([model]) => model)).toEqual(['alone', 'one']);
    upstreamRequests = [];
    answers = { one: { a: 0.1, b: 0.2, c: 0.3, d: 0.4 } };
    const answered = await decide('one');
    expect(questionsByModel()).toHaveLength(1);
    expect(JSON.stringify(answered.body)).not.toContain('x_model');
  });

  it('are not sent to a model that the key may not call, or after the budget of the key is used up', async () => {
    answers = { one: { a: 0.1 }, two: { b: 0.2 }, three: { c: 0.3 } };
    const newKeyHeaders = async (draft: object): Promise<Record<string, string>> => {
      const created = (await (await app.call('POST', '/key/generate', draft)).json()) as { readonly key: string };
      return { authorization: `Bearer ${created.key}` };
    };
    const narrow = await newKeyHeaders({ models: ['one', 'three'] });
    expect((await decide('one', narrow)).status).toBe(200);
    expect(questionsByModel().map(([model]) => model)).toEqual(['one', 'three']);
    upstreamRequests = [];
    // The first call uses up the budget.
    const poor = await newKeyHeaders({ max_budget: 0.005 });
    expect((await decide('one', poor)).status).toBe(200);
    expect(questionsByModel().map(([model]) => model)).toEqual(['one']);
  });

  it('are streamed at their positions, and each answer has the name of its model', async () => {
    answers = { one: { a: 0.1 }, two: { a: 0.6, b: 0.9 } };
    const query = `subscription ($input: DecideInput!) {
      decisionStream(input: $input) {
        ... on DecisionAnswered { index answer { ... on DecisionAnswer { name model } } }
        ... on DecisionMade { decision { answers { ... on DecisionAnswer { name model } } costUsd } }
      }
    }`;
    const questions = ['a', 'b'].map((name) => ({ kind: 'PREDICATE', name, instructions: '?' }));
    const input = { model: 'one', input: 'x', questions };
    const response = await app.call(
      'POST',
      '/graphql',
      { query, variables: { input } },
      { accept: 'text/event-stream' },
    );
    const events = [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(
      ([, data]) => (JSON.parse(data ?? '') as { data: { decisionStream: unknown } }).data.decisionStream,
    );
    const answerEvents = events.slice(0, -1) as readonly {
      readonly index: number;
      readonly answer: { name: string };
    }[];
    expect(answerEvents.map(({ index, answer }) => [index, answer.name])).toContainEqual([1, 'b']);
    expect(answerEvents.every(({ index, answer }) => answer.name === questions[index]?.name)).toBe(true);
    expect(events.at(-1)).toEqual({
      decision: {
        answers: [
          { name: 'a', model: 'perplexity/one' },
          { name: 'b', model: 'perplexity/two' },
        ],
        costUsd: '0.02',
      },
    });
  });
});

describe('recordDecisionOutcome', () => {
  it('counts an outcome for the model that answered the question', async () => {
    answers = { one: { b: 0.6, c: 0.7, d: 0.8 }, two: { a: 0.9 } };
    const { callId, status } = await decide('one');
    expect(status).toBe(200);
    const record = `mutation($input: RecordDecisionOutcomeInput!) { recordDecisionOutcome(input: $input) { __typename } }`;
    for (const question of ['a', 'b']) {
      const variables = { input: { callId, question, outcome: true } };
      expect(await (await app.call('POST', '/graphql', { query: record, variables })).json()).toEqual({
        data: { recordDecisionOutcome: { __typename: 'DecisionOutcome' } },
      });
    }
    const query = '{ decisionCalibrations { model outcomes } }';
    expect(await (await app.call('POST', '/graphql', { query })).json()).toEqual({
      data: {
        decisionCalibrations: [
          { model: 'perplexity/one', outcomes: 1 },
          { model: 'perplexity/two', outcomes: 1 },
        ],
      },
    });
  });
});
