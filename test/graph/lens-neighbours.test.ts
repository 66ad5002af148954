import { beforeAll, describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../bench/lens/runs.ts';
import { lensClient } from '../support/lens-client.ts';

const { send, app, key, ingest } = lensClient();
const [RUN] = syntheticRuns(1, 41);
const traceId = RUN?.traceId ?? '';

beforeAll(() => ingest(syntheticRuns(1, 41)));

async function ask(query: string, variables: object = {}, as = app().adminKey): Promise<unknown> {
  return (await send('POST', '/graphql', { query, variables }, as)).body['data'];
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
        ... on IssuedTracingKey { token key { id name teamId expiresAt } }
        ... on UserError { message }
      }
    }`;
    const made = await ask(create, { input: { name: 'bot', teamId: 't' } });
    expect(made).toEqual({
      createTracingKey: {
        __typename: 'IssuedTracingKey',
        token: expect.stringMatching(/^lens-trace-/),
        key: { id: expect.any(String), name: 'bot', teamId: 't', expiresAt: null },
      },
    });
    expect(await ask(create, { input: { expiresAt: '2001-01-01T00:00:00Z' } })).toEqual({
      createTracingKey: { __typename: 'InvalidInputError', message: 'Choose an expiry in the future' },
    });
    const { tracingKeys } = (await ask('{ tracingKeys { id name keyHash createdAt } }')) as {
      readonly tracingKeys: readonly { readonly id: string }[];
    };
    expect(tracingKeys).toHaveLength(1);
    const remove = 'mutation ($id: ID!) { deleteTracingKey(input: { id: $id }) { name } }';
    const [{ id } = { id: '' }] = tracingKeys;
    expect(await ask(remove, { id })).toEqual({ deleteTracingKey: { name: 'bot' } });
    expect(await ask(remove, { id })).toEqual({ deleteTracingKey: null });
    expect(await ask('{ tracingKeys { id } }', {}, (await key({})).key)).toBeNull();
  });
});
