import { beforeAll, describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../bench/lens/runs.ts';
import { lensClient } from '../support/lens-client.ts';

const { send, app, key, ingest } = lensClient();
const [AGENT_RUN] = syntheticRuns(1, 41);
const traceId = AGENT_RUN?.traceId ?? '';

beforeAll(() => ingest(syntheticRuns(1, 41)));

async function ask(query: string, variables: object = {}, callerKey = app().adminKey): Promise<unknown> {
  return (await send('POST', '/graphql', { query, variables }, callerKey)).body['data'];
}

describe('feedback in the graph', () => {
  it('is set, read and deleted', async () => {
    const set = `mutation ($input: SetTraceFeedbackInput!) {
      setTraceFeedback(input: $input) { __typename ... on Feedback { score comment author } ... on UserError { message } }
    }`;
    expect(await ask(set, { input: { traceId, score: 2, comment: 'no', user: 'ann' } })).toEqual({
      setTraceFeedback: { __typename: 'Feedback', score: 2, comment: 'no', author: 'ann' },
    });
    expect(await ask(set, { input: { traceId, score: 11 } })).toMatchObject({
      setTraceFeedback: { __typename: 'InvalidInputError' },
    });
    expect(await ask(set, { input: { traceId: 'a'.repeat(32), score: 1 } })).toEqual({
      setTraceFeedback: { __typename: 'NotFoundError', message: 'Trace not found' },
    });
    const read = `query ($id: ID!) {
      traceFeedback(traceId: $id) { count averageScore lowestScore items { author } }
      trace(id: $id) { annotations { name score note author } }
    }`;
    expect(await ask(read, { id: traceId })).toEqual({
      traceFeedback: { count: 1, averageScore: 2, lowestScore: 2, items: [{ author: 'ann' }] },
      trace: { annotations: [{ name: 'feedback', score: 2, note: 'no', author: 'ann' }] },
    });
    const remove = `mutation ($input: DeleteTraceFeedbackInput!) {
      deleteTraceFeedback(input: $input) { __typename ... on Feedback { score } ... on UserError { message } }
    }`;
    expect(await ask(remove, { input: { traceId, user: 'ann' } })).toEqual({
      deleteTraceFeedback: { __typename: 'Feedback', score: 2 },
    });
    expect(await ask(remove, { input: { traceId, user: 'ann' } })).toEqual({
      deleteTraceFeedback: { __typename: 'NotFoundError', message: 'No feedback from this user on this trace' },
    });
  });
});

describe('tracing keys in the graph', () => {
  it('are created, listed and deleted', async () => {
    const create = `mutation ($input: CreateTracingKeyInput!) {
      createTracingKey(input: $input) {
        __typename
        ... on IssuedTracingKey { token key { tracingKeyId name teamId expiresAt } }
        ... on UserError { message }
      }
    }`;
    const issued = await ask(create, { input: { name: 'bot', teamId: 't' } });
    expect(issued).toEqual({
      createTracingKey: {
        __typename: 'IssuedTracingKey',
        token: expect.stringMatching(/^lens-trace-/),
        key: { tracingKeyId: expect.any(String), name: 'bot', teamId: 't', expiresAt: null },
      },
    });
    expect(await ask(create, { input: { expiresAt: '2001-01-01T00:00:00Z' } })).toEqual({
      createTracingKey: { __typename: 'InvalidInputError', message: 'Choose an expiry in the future' },
    });
    const { tracingKeys } = (await ask('{ tracingKeys { id name keyHash createdAt } }')) as {
      readonly tracingKeys: readonly { readonly id: string }[];
    };
    expect(tracingKeys).toHaveLength(1);
    const remove =
      'mutation ($id: ID!) { deleteTracingKey(input: { id: $id }) { ... on TracingKey { name } ... on UserError { message } } }';
    const [{ id } = { id: '' }] = tracingKeys;
    const nodeQuery = 'query ($id: ID!) { node(id: $id) { ... on TracingKey { name } } }';
    expect(await ask(nodeQuery, { id })).toEqual({ node: { name: 'bot' } });
    expect(await ask(remove, { id })).toEqual({ deleteTracingKey: { name: 'bot' } });
    expect(await ask(nodeQuery, { id })).toEqual({ node: null });
    expect(await ask(remove, { id })).toEqual({ deleteTracingKey: { message: 'Tracing key not found' } });
    expect(await ask('{ tracingKeys { id } }', {}, (await key({})).key)).toBeNull();
  });
});

describe('datasets in the graph', () => {
  it('are created, built, saved and read', async () => {
    const { createDataset } = (await ask(
      'mutation { createDataset(input: { name: "d" }) { ... on Dataset { revision summary { id name caseCount } } } }',
    )) as { readonly createDataset: { readonly summary: { readonly id: string } } };
    expect(createDataset).toEqual({ revision: 0, summary: { id: expect.any(String), name: 'd', caseCount: 0 } });
    const { id } = createDataset.summary;
    const build = `mutation ($sources: [DatasetSourceInput!]!) {
      buildDatasetCases(input: { sources: $sources }) { ... on BuiltDatasetCases { cases { messages traceId } skipped } }
    }`;
    expect(await ask(build, { sources: [{ text: 'hi' }, { text: 'hi' }, { traceId: 'a'.repeat(32) }] })).toMatchObject({
      buildDatasetCases: {
        cases: [{ messages: [{ role: 'user', content: 'hi', name: '', tool_calls: [] }], traceId: null }],
        skipped: [{ reason: 'duplicate' }, { reason: 'no_content' }],
      },
    });
    const save = `mutation ($input: SaveDatasetInput!) {
      saveDataset(input: $input) { __typename ... on Dataset { revision cases { expected } } ... on UserError { message } }
    }`;
    const content = { messages: [{ role: 'user', content: 'hi' }], expected: 'hello' };
    const datasetId = Buffer.from(id, 'base64').toString().replace('DatasetSummary:', '');
    const input = { id: datasetId, baseRevision: 0, cases: [{ content }] };
    expect(await ask(save, { input })).toEqual({
      saveDataset: { __typename: 'Dataset', revision: 1, cases: [{ expected: 'hello' }] },
    });
    expect(await ask(save, { input })).toEqual({
      saveDataset: { __typename: 'ConflictError', message: 'Dataset changed, reload' },
    });
    expect(await ask(save, { input: { ...input, cases: [{ content: {} }] } })).toMatchObject({
      saveDataset: { __typename: 'InvalidInputError' },
    });
    const read =
      'query ($id: ID!) { datasets { name latestRevision } dataset(id: $id) { cases { included } } node(id: $id) { ... on DatasetSummary { name agentName } } }';
    expect(await ask(read, { id })).toEqual({
      datasets: [{ name: 'd', latestRevision: 1 }],
      dataset: { cases: [{ included: true }] },
      node: { name: 'd', agentName: null },
    });
  });
});

describe('texts and lists outside their limits', () => {
  const refused = (field: string, message: string) => ({
    [field]: { __typename: 'InvalidInputError', message },
  });

  it('are refused for datasets, tracing keys and workers', async () => {
    const dataset = `mutation ($input: CreateDatasetInput!) {
      createDataset(input: $input) { __typename ... on UserError { message } }
    }`;
    const name = 'n'.repeat(120);
    expect(await ask(dataset, { input: { name: '' } })).toEqual(
      refused('createDataset', '`name` must have 1 to 120 characters.'),
    );
    expect(await ask(dataset, { input: { name: `${name}n`, agentName: 'a'.repeat(201) } })).toEqual(
      refused('createDataset', '`name` must have 1 to 120 characters; `agent_name` must have 0 to 200 characters.'),
    );
    expect(await ask(dataset, { input: { name, agentName: 'a'.repeat(200) } })).toMatchObject({
      createDataset: { __typename: 'Dataset' },
    });
    const tracingKey = `mutation ($input: CreateTracingKeyInput!) {
      createTracingKey(input: $input) { __typename ... on UserError { message } }
    }`;
    expect(await ask(tracingKey, { input: { name: 'n'.repeat(129) } })).toEqual(
      refused('createTracingKey', '`name` must have 1 to 128 characters.'),
    );
    const worker = `mutation ($input: RegisterLensWorkerInput!) {
      registerLensWorker(input: $input) { __typename ... on UserError { message } }
    }`;
    expect(await ask(worker, { input: { name: 'n'.repeat(201), analysisKeyId: 'a'.repeat(64) } })).toEqual(
      refused('registerLensWorker', '`name` must have 1 to 200 characters.'),
    );
  });

  it.each([0, 501])('are refused for %i sources of cases', async (count) => {
    const build = `mutation ($sources: [DatasetSourceInput!]!) {
      buildDatasetCases(input: { sources: $sources }) { __typename ... on UserError { message } }
    }`;
    const { body } = await send('POST', '/graphql', {
      query: build,
      variables: { sources: Array.from({ length: count }, () => ({ text: 'hi' })) },
    });
    expect(body).toEqual({
      data: {
        buildDatasetCases: { __typename: 'InvalidInputError', message: '`sources` must have 1 to 500 sources.' },
      },
    });
  });
});

describe('buildDatasetCases', () => {
  it('answers an input without sources with an InvalidInputError', async () => {
    const query = `mutation($input: BuildDatasetInput!) { buildDatasetCases(input: $input) {
      __typename ... on InvalidInputError { message } } }`;
    expect(await ask(query, { input: { sources: [] } })).toEqual({
      buildDatasetCases: { __typename: 'InvalidInputError', message: expect.stringMatching(/source/) },
    });
  });
});

describe('signals in the graph', () => {
  it('are set and read', async () => {
    const set = `mutation ($input: SetSignalSettingsInput!) {
      setSignalSettings(input: $input) {
        __typename
        ... on LensSignalSettings { model threshold signals { id } }
        ... on UserError { message }
      }
    }`;
    const signals = [{ id: 'a', name: 'A', question: 'Is it so?' }];
    expect(await ask(set, { input: { model: 'judge', signals } })).toEqual({
      setSignalSettings: { __typename: 'LensSignalSettings', model: 'judge', threshold: 0.5, signals: [{ id: 'a' }] },
    });
    expect(await ask(set, { input: { model: 'none', signals: [] } })).toMatchObject({
      setSignalSettings: { __typename: 'InvalidInputError' },
    });
    await ask(set, { input: { model: '', signals } });
    expect(await ask('{ signalSettings { model signals { name } } }')).toEqual({
      signalSettings: { model: null, signals: [{ name: 'A' }] },
    });
  });
});
