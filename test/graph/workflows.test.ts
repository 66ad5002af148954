import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let mine: string;
let other: string;

beforeAll(async () => {
  app = await startApp();
  const newKey = async (): Promise<string> =>
    ((await (await app.call('POST', '/key/generate', {})).json()) as { readonly key: string }).key;
  [mine, other] = [await newKey(), await newKey()];
});
afterAll(() => app.stop());

type Json = Readonly<Record<string, unknown>>;

async function ask(query: string, input?: object, key = mine): Promise<Json> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Json; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

const RUN = 'id runId sessionId type status keyHash input output metadata eventCount messageCount createdAt updatedAt';
const change = async (field: string, fields: string, input: object, key?: string): Promise<Json> => {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${field}(input: $input) { __typename ${fields} ... on UserError { message code } } }`;
  const answer = await ask(query, input, key);
  return (answer[field] ?? answer) as Json;
};
const create = (input: object, key?: string) =>
  change('createWorkflowRun', `... on WorkflowRun { ${RUN} }`, input, key);
const TEXT = expect.any(String) as string;

describe('runs of workflows in the graph', () => {
  it('are stored, changed and removed, the same as over HTTP', async () => {
    const run = await create({ type: 'build', input: { a: 1 } });
    expect(run).toEqual({
      __typename: 'WorkflowRun',
      id: TEXT,
      runId: TEXT,
      sessionId: TEXT,
      type: 'build',
      status: 'PENDING',
      keyHash: TEXT,
      input: { a: 1 },
      output: null,
      metadata: null,
      eventCount: 0,
      messageCount: 0,
      createdAt: TEXT,
      updatedAt: TEXT,
    });
    const event = { run: run['id'], type: 'step.started', stepName: 'plan', data: { b: 2 } };
    expect(await change('appendWorkflowEvent', '... on WorkflowEvent { sequence type stepName data }', event)).toEqual({
      __typename: 'WorkflowEvent',
      sequence: 0,
      type: 'step.started',
      stepName: 'plan',
      data: { b: 2 },
    });
    const message = { run: run['runId'], role: 'user', content: 'hello' };
    expect(
      await change('appendWorkflowMessage', '... on WorkflowMessage { sequence role content sessionId }', message),
    ).toEqual({ __typename: 'WorkflowMessage', sequence: 0, role: 'user', content: 'hello', sessionId: null });
    const entries = `status eventCount messageCount events { eventId sequence at } messages(first: 5, offset: 0) { messageId content at }`;
    const { node } = await ask(`{ node(id: "${String(run['id'])}") { ... on WorkflowRun { ${entries} } } }`);
    expect(node).toEqual({
      status: 'RUNNING',
      eventCount: 1,
      messageCount: 1,
      events: [{ eventId: TEXT, sequence: 0, at: TEXT }],
      messages: [{ messageId: TEXT, content: 'hello', at: TEXT }],
    });
    const patch = { run: run['id'], status: 'COMPLETED', output: { ok: true }, metadata: { c: 3 } };
    expect(await change('updateWorkflowRun', `... on WorkflowRun { status output metadata }`, patch)).toEqual({
      __typename: 'WorkflowRun',
      status: 'COMPLETED',
      output: { ok: true },
      metadata: { c: 3 },
    });
    const overHttp = await fetch(`${app.url}/v1/workflows/runs/${String(run['runId'])}`, {
      headers: { authorization: `Bearer ${mine}` },
    });
    expect(await overHttp.json()).toMatchObject({ status: 'completed', events: [{ sequence_number: 0 }] });
    expect(await change('deleteWorkflowRun', '... on WorkflowRun { runId }', { run: run['id'] })).toEqual({
      __typename: 'WorkflowRun',
      runId: run['runId'],
    });
    expect(await change('deleteWorkflowRun', '... on WorkflowRun { runId }', { run: run['id'] })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('are those of the key; administrators see all', async () => {
    const run = await create({ type: 'theirs' }, other);
    const list = async (key?: string): Promise<unknown> => {
      const query = '{ workflowRuns(filter: {type: "theirs", statuses: [PENDING]}) { totalCount nodes { type } } }';
      return (await ask(query, undefined, key))['workflowRuns'];
    };
    expect(await list()).toEqual({ totalCount: 0, nodes: [] });
    expect(await list(other)).toEqual({ totalCount: 1, nodes: [{ type: 'theirs' }] });
    expect(await list(app.adminKey)).toEqual({ totalCount: 1, nodes: [{ type: 'theirs' }] });
    expect(await ask(`{ node(id: "${String(run['id'])}") { id } }`)).toEqual({ node: null });
    const input = { run: run['id'], status: 'FAILED' };
    expect(await change('updateWorkflowRun', '... on WorkflowRun { id }', input)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('return errors of changes and of pages', async () => {
    expect(await create({ type: ' ' })).toEqual({
      __typename: 'InvalidInputError',
      message: 'workflow_type must have 1 to 256 characters',
      code: 'INVALID_INPUT',
    });
    expect(await create({ type: 'x', input: [1] })).toMatchObject({ code: 'INVALID_INPUT' });
    const run = await create({ type: 'x' });
    expect(await change('updateWorkflowRun', '... on WorkflowRun { id }', { run: run['id'] })).toMatchObject({
      message: 'No fields to update',
    });
    const entries = async (args: string): Promise<unknown> =>
      ask(`{ node(id: "${String(run['id'])}") { ... on WorkflowRun { events(${args}) { sequence } } } }`);
    for (const args of ['first: 501', 'first: 0', 'offset: -1'])
      expect(await entries(args)).toMatchObject({ errors: [{ extensions: { code: 'INVALID_INPUT' } }] });
    const many = Array.from({ length: 11 }, (_, index) => `a${index}: workflowRuns { totalCount }`).join(' ');
    expect(await ask(`{ ${many} }`)).toMatchObject({ errors: [{}] });
  });
});
