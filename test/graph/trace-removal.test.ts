import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  DeleteTraceDocument,
  RedactTraceDocument,
  TraceDocument,
  type TypedDocumentString,
} from './generated/graphql.ts';

let app: TestApp;
const keys = new Map<string, string>();
beforeAll(async () => {
  app = await startApp();
  const drafts = {
    sender: { team_id: 'team-1' },
    teammate: { team_id: 'team-1' },
    stranger: { team_id: 'team-2' },
    viewer: { user_role: 'proxy_admin_viewer' },
    reader: { user_role: 'internal_user_viewer', team_id: 'team-1' },
  };
  for (const [name, draft] of Object.entries(drafts)) {
    const { key }: { readonly key: string } = await (await app.call('POST', '/key/generate', draft)).json();
    keys.set(name, key);
  }
  keys.set('admin', app.adminKey);
});
afterAll(() => app.stop());

const authorizationOf = (who: string): Record<string, string> => ({ authorization: `Bearer ${keys.get(who)}` });

interface Answer<Data> {
  readonly data: Data | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function ask<Data, Variables>(
  who: string,
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Answer<Data>> {
  const body = { query: document.toString(), variables };
  return (await app.call('POST', '/graphql', body, authorizationOf(who))).json() as Promise<Answer<Data>>;
}

let traceCount = 0;
/** Sends a trace with one span with texts. Returns the trace id. */
async function sendTrace(who: string): Promise<string> {
  traceCount += 1;
  const traceId = traceCount.toString(16).padStart(32, '0');
  const value = { stringValue: 'something said' };
  const span = {
    traceId,
    spanId: '1'.repeat(16),
    name: 'chat',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
    status: { code: 2, message: 'it was said' },
    attributes: [{ key: 'gen_ai.prompt', value }],
  };
  const response = await app.call(
    'POST',
    '/v1/traces',
    { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] },
    authorizationOf(who),
  );
  expect(response.status).toBe(200);
  return traceId;
}
const exists = async (traceId: string): Promise<boolean> =>
  (await ask('admin', TraceDocument, { id: traceId })).data?.trace !== null;

const REFUSED = {
  stranger: { __typename: 'NotFoundError', code: 'NOT_FOUND' },
  teammate: { code: 'FORBIDDEN', message: 'Only the key that sent a trace, and proxy admins, can do this.' },
  reader: { code: 'FORBIDDEN', message: 'Read-only keys cannot remove or redact traces.' },
  viewer: { code: 'FORBIDDEN', message: 'Read-only keys cannot remove or redact traces.' },
} as const;

interface ErasureVariables {
  readonly input: { readonly id: string; readonly traceRef?: string };
}
type Erasure = TypedDocumentString<object, ErasureVariables>;

describe.each([
  ['deleteTrace', DeleteTraceDocument as unknown as Erasure],
  ['redactTrace', RedactTraceDocument as unknown as Erasure],
] as const)('%s', (name, document) => {
  const result = (answer: Answer<object>): unknown => (answer.data as Record<string, unknown> | null)?.[name];

  it('is allowed for the key that sent the trace and for administrators', async () => {
    for (const who of ['sender', 'admin']) {
      const traceId = await sendTrace('sender');
      const answer = await ask(who, document, { input: { id: traceId.toUpperCase() } });
      expect(answer.errors).toBeUndefined();
      expect(result(answer)).toMatchObject({ __typename: name === 'deleteTrace' ? 'DeletedTrace' : 'RedactedTrace' });
    }
  });

  it.each(['teammate', 'reader', 'viewer'] as const)('is refused for %s, and changes nothing', async (who) => {
    const traceId = await sendTrace('sender');
    const { data, errors } = await ask(who, document, { input: { id: traceId } });
    expect(data).toBeNull();
    expect(errors?.map(({ message, extensions: { code } }) => ({ code, message }))).toEqual([REFUSED[who]]);
    const { data: unchanged } = await ask('sender', TraceDocument, { id: traceId });
    expect(unchanged?.trace).toMatchObject({ inputPreview: 'something said' });
  });

  it('returns NOT_FOUND for a trace of another team and for a trace that does not exist', async () => {
    const traceId = await sendTrace('sender');
    const unknownId = 'f'.repeat(32);
    for (const id of [traceId, unknownId, 'no id'])
      expect(result(await ask('stranger', document, { input: { id } }))).toEqual({
        ...REFUSED.stranger,
        message: `Trace ${id} not found`,
      });
    expect(result(await ask('sender', document, { input: { id: traceId, traceRef: 'another' } }))).toMatchObject(
      REFUSED.stranger,
    );
    expect(await exists(traceId)).toBe(true);
  });

  it('requires a key', async () => {
    const body = { query: document.toString(), variables: { input: { id: 'f'.repeat(32) } } };
    const answer = await app.call('POST', '/graphql', body, { authorization: '' });
    const { errors } = (await answer.json()) as Answer<unknown>;
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  });
});

it('a removed trace is found neither by its sender nor by administrators', async () => {
  const traceId = await sendTrace('sender');
  expect((await ask('sender', DeleteTraceDocument, { input: { id: traceId } })).data).toEqual({
    deleteTrace: { __typename: 'DeletedTrace', traceId, traceCount: 1 },
  });
  expect(await exists(traceId)).toBe(false);
  const read = await app.call('GET', `/v1/traces/${traceId}`);
  expect([read.status, await read.json()]).toEqual([404, { detail: `Trace ${traceId} not found` }]);
  expect((await ask('sender', DeleteTraceDocument, { input: { id: traceId } })).data).toMatchObject({
    deleteTrace: REFUSED.stranger,
  });
});

it('a redacted trace keeps its spans without their texts', async () => {
  const traceId = await sendTrace('sender');
  const { data } = await ask('sender', RedactTraceDocument, { input: { id: traceId } });
  const redactedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
  const spans = { nodes: [{ spanId: '1'.repeat(16), inputPreview: null, error: null }] };
  const traceRef = expect.stringMatching(/^[0-9A-F]{64}$/) as string;
  const redacted = { traceId, traceRef, name: 'chat', inputPreview: null, spanCount: 1, redactedAt, spans };
  expect(data).toEqual({ redactTrace: { __typename: 'RedactedTrace', traces: [redacted] } });
  const read = await app.call('GET', `/v1/traces/${traceId}/spans/${'1'.repeat(16)}`);
  expect(await read.json()).toMatchObject({ input: '', output: '', attributes: {} });
});

it('a trace can be removed before its committed call is written as rows', async () => {
  const traceId = 'c'.repeat(32);
  const chat = await app.call(
    'POST',
    '/v1/chat/completions',
    { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] },
    { traceparent: `00-${traceId}-${'1'.repeat(16)}-01` },
  );
  expect(chat.status).toBe(200);
  await chat.arrayBuffer();
  expect((await ask('admin', DeleteTraceDocument, { input: { id: traceId } })).data).toMatchObject({
    deleteTrace: { traceCount: 1 },
  });
  expect(await exists(traceId)).toBe(false);
});
