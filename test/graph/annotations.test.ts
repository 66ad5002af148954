import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  AnnotateTraceDocument,
  AnnotationNodeDocument,
  AnnotationsDocument,
  DeleteAnnotationDocument,
  DeleteTraceDocument,
  RedactTraceDocument,
  TraceAnnotationsDocument,
  type TypedDocumentString,
} from './generated/graphql.ts';

let app: TestApp;
const keys = new Map<string, string>();
beforeAll(async () => {
  app = await startApp();
  const drafts = {
    sender: { team_id: 'team-1', user_id: 'ann' },
    teammate: { team_id: 'team-1', user_id: 'ben' },
    stranger: { team_id: 'team-2' },
    viewer: { user_role: 'proxy_admin_viewer' },
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

const SPAN = '1'.repeat(16);
let traceCount = 0;
/** Sends a trace with one span. Returns the trace id. */
async function sendTrace(who: string): Promise<string> {
  traceCount += 1;
  const traceId = traceCount.toString(16).padStart(32, '0');
  const span = { traceId, spanId: SPAN, name: 'chat', startTimeUnixNano: '1000000', endTimeUnixNano: '2000000' };
  const response = await app.call(
    'POST',
    '/v1/traces',
    { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] },
    authorizationOf(who),
  );
  expect(response.status).toBe(200);
  return traceId;
}

const annotate = async (who: string, input: Record<string, unknown> & { readonly traceId: string }) =>
  (await ask(who, AnnotateTraceDocument, { input: { name: 'helpful', annotatorKind: 'HUMAN', ...input } })).data
    ?.annotateTrace;

const idOf = (annotation: unknown): string => (annotation as { readonly id: string }).id;

describe('annotateTrace', () => {
  it('annotates a trace and a span with author, label, score and note', async () => {
    const traceId = await sendTrace('sender');
    expect(await annotate('sender', { traceId, score: 0.5, label: ' good ', note: 'well said' })).toEqual({
      __typename: 'Annotation',
      id: expect.any(String),
      name: 'helpful',
      annotatorKind: 'HUMAN',
      label: 'good',
      score: 0.5,
      note: 'well said',
      author: 'ann',
      traceId,
      spanId: null,
    });
    expect(
      await annotate('teammate', { traceId, spanId: SPAN, name: 'toxic', annotatorKind: 'LLM', score: 0 }),
    ).toMatchObject({
      annotatorKind: 'LLM',
      author: 'ben',
      score: 0,
      spanId: SPAN,
    });
    expect((await ask('sender', TraceAnnotationsDocument, { id: traceId })).data?.trace).toEqual({
      annotations: [
        { name: 'helpful', spanId: null, label: 'good', note: 'well said' },
        { name: 'toxic', spanId: SPAN, label: null, note: null },
      ],
      spans: { nodes: [{ spanId: SPAN, annotations: [{ name: 'toxic' }] }] },
    });
  });

  it('replaces the annotation of the same author and name, and no other', async () => {
    const traceId = await sendTrace('sender');
    const first = await annotate('sender', { traceId, label: 'good', score: 1 });
    await annotate('teammate', { traceId, label: 'fine' });
    const second = await annotate('sender', { traceId, label: 'bad' });
    expect(idOf(second)).toBe(idOf(first));
    expect(second).toMatchObject({ label: 'bad', score: null });
    const { data } = await ask('sender', TraceAnnotationsDocument, { id: traceId });
    expect(data?.trace?.annotations.map(({ label }) => label)).toEqual(['bad', 'fine']);
  });

  it('keeps one annotation of a name when an author writes several at the same time', async () => {
    const traceId = await sendTrace('sender');
    const written = await Promise.all([1, 2, 3].map((score) => annotate('sender', { traceId, score })));
    expect(new Set(written.map(idOf)).size).toBe(1);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ name: '  ', label: 'x' }, 'Invalid annotation: name must have 1 to 120 characters.'],
    [{ label: 'x'.repeat(257) }, 'Invalid annotation: label must have at most 256 characters.'],
    [{ note: 'x'.repeat(10_001) }, 'Invalid annotation: note must have at most 10000 characters.'],
    [{ name: 'a\0', label: 'x' }, 'Invalid annotation: name must not contain a NUL character.'],
    [{ label: 'x\0' }, 'Invalid annotation: label must not contain a NUL character.'],
    [{ note: 'x\0' }, 'Invalid annotation: note must not contain a NUL character.'],
    [{ label: ' ' }, 'Invalid annotation: label must be given where there is no score and no note.'],
  ])('refuses an invalid annotation (case %#)', async (input, message) => {
    const traceId = await sendTrace('sender');
    expect(await annotate('sender', { traceId, ...input })).toEqual({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      message,
    });
  });

  it('returns NOT_FOUND for traces of others, unknown traces and unknown spans', async () => {
    const traceId = await sendTrace('sender');
    expect(await annotate('stranger', { traceId, label: 'x' })).toMatchObject({ __typename: 'NotFoundError' });
    expect(await annotate('sender', { traceId: 'f'.repeat(32), label: 'x' })).toMatchObject({ code: 'NOT_FOUND' });
    for (const spanId of ['2'.repeat(16), 'no id'])
      expect(await annotate('sender', { traceId, spanId, label: 'x' })).toMatchObject({
        code: 'NOT_FOUND',
        message: `Span ${spanId} not found`,
      });
  });

  it('is refused for read-only keys', async () => {
    const traceId = await sendTrace('sender');
    const { data, errors } = await ask('viewer', AnnotateTraceDocument, {
      input: { traceId, name: 'x', annotatorKind: 'CODE', label: 'x' },
    });
    expect([data, errors?.[0]?.extensions.code]).toEqual([null, 'FORBIDDEN']);
  });

  it('requires the ref from a caller that may read several traces with the trace id', async () => {
    const traceId = await sendTrace('sender');
    // The next trace has the same id.
    traceCount -= 1;
    expect(await sendTrace('stranger')).toBe(traceId);
    expect(await annotate('admin', { traceId, label: 'x' })).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'Several keys sent this trace id: name one trace by its ref.',
    });
    expect(await annotate('stranger', { traceId, label: 'mine' })).toMatchObject({ label: 'mine' });
    expect((await ask('sender', TraceAnnotationsDocument, { id: traceId })).data?.trace?.annotations).toEqual([]);
  });
});

describe('annotations', () => {
  it('filters by name, label, author, score and time, and shows annotations of visible traces only', async () => {
    const traceId = await sendTrace('sender');
    await annotate('sender', { traceId, name: 'listed', label: 'a', score: 1 });
    await annotate('teammate', { traceId, name: 'listed', label: 'b', score: 2 });
    const labels = async (who: string, filter: Record<string, unknown>) =>
      (
        await ask(who, AnnotationsDocument, {
          filter: { traceId, ...filter },
          orderBy: { field: 'CREATED_AT', direction: 'ASC' },
        })
      ).data?.annotations.nodes.map(({ label }) => label);
    expect(await labels('sender', {})).toEqual(['a', 'b']);
    expect(await labels('viewer', { name: 'listed' })).toEqual(['a', 'b']);
    expect(await labels('stranger', {})).toEqual([]);
    expect(await labels('sender', { author: 'ben' })).toEqual(['b']);
    expect(await labels('sender', { label: 'a', name: 'listed', annotatorKind: 'HUMAN' })).toEqual(['a']);
    expect(await labels('sender', { minScore: 2 })).toEqual(['b']);
    expect(await labels('sender', { maxScore: 1.5 })).toEqual(['a']);
    expect(await labels('sender', { from: '2999-01-01T00:00:00Z' })).toEqual([]);
    expect(await labels('sender', { to: '2000-01-01T00:00:00Z' })).toEqual([]);
  });

  it('pages with a cursor, and counts the annotations of all pages', async () => {
    const traceId = await sendTrace('sender');
    for (const name of ['one', 'two', 'three']) await annotate('sender', { traceId, name, label: 'x' });
    const page = async (after: string | null) =>
      (
        await ask('sender', AnnotationsDocument, {
          filter: { traceId },
          orderBy: { field: 'CREATED_AT', direction: 'DESC' },
          first: 2,
          after,
        })
      ).data?.annotations;
    const first = await page(null);
    expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    const second = await page(first?.pageInfo.endCursor ?? null);
    expect(second?.pageInfo.hasNextPage).toBe(false);
    const names = [...(first?.nodes ?? []), ...(second?.nodes ?? [])].map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(['one', 'two', 'three']));
    expect(first?.nodes[0]?.trace).toEqual({ traceId });
  });

  it('refuses a page size out of range and a malformed cursor', async () => {
    for (const invalid of [{ first: 0 }, { first: 101 }, { after: 'bm9uZQ' }])
      expect(
        (await ask('sender', AnnotationsDocument, { orderBy: { field: 'CREATED_AT', direction: 'DESC' }, ...invalid }))
          .errors?.[0]?.extensions.code,
      ).toBe('INVALID_INPUT');
  });

  it('are returned by `node` to callers that may read the trace; others get null', async () => {
    const id = idOf(await annotate('sender', { traceId: await sendTrace('sender'), label: 'x' }));
    expect((await ask('teammate', AnnotationNodeDocument, { id })).data?.node).toEqual({
      __typename: 'Annotation',
      name: 'helpful',
    });
    expect((await ask('stranger', AnnotationNodeDocument, { id })).data?.node).toBeNull();
  });
});

describe('deleteAnnotation', () => {
  it('is allowed for the author and for administrators', async () => {
    const traceId = await sendTrace('sender');
    for (const who of ['sender', 'admin']) {
      const id = idOf(await annotate('sender', { traceId, label: 'x' }));
      const input = { input: { id } };
      const teammate = await ask('teammate', DeleteAnnotationDocument, input);
      expect(teammate.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
      const stranger = await ask('stranger', DeleteAnnotationDocument, input);
      expect(stranger.data?.deleteAnnotation).toMatchObject({ __typename: 'NotFoundError' });
      expect((await ask(who, DeleteAnnotationDocument, input)).data?.deleteAnnotation).toEqual({
        __typename: 'Annotation',
        id,
      });
      expect((await ask(who, DeleteAnnotationDocument, input)).data?.deleteAnnotation).toMatchObject({
        code: 'NOT_FOUND',
      });
    }
  });
});

describe('the annotations of a trace', () => {
  it('are deleted with the trace, and lose their labels when the trace is redacted', async () => {
    const [deleted, redacted] = [await sendTrace('sender'), await sendTrace('sender')];
    for (const traceId of [deleted, redacted]) await annotate('sender', { traceId, label: 'l', score: 3, note: 'n' });
    await ask('sender', DeleteTraceDocument, { input: { id: deleted } });
    await ask('sender', RedactTraceDocument, { input: { id: redacted } });
    const annotationsOf = async (traceId: string) =>
      (
        await ask('admin', AnnotationsDocument, {
          filter: { traceId },
          orderBy: { field: 'CREATED_AT', direction: 'ASC' },
        })
      ).data?.annotations.nodes;
    expect(await annotationsOf(deleted)).toEqual([]);
    expect(await annotationsOf(redacted)).toEqual([
      { name: 'helpful', label: null, score: 3, trace: { traceId: redacted } },
    ]);
  });
});
