import { describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../bench/lens/runs.ts';
import { ALL_CHECKS, lensClient } from '../support/lens-client.ts';
import {
  CancelLensRunDocument,
  CreateLensDocument,
  FindingsDocument,
  LensDocument,
  RunLensDocument,
  SetFindingStatusDocument,
  type TypedDocumentString,
  UpdateLensDocument,
} from './generated/graphql.ts';

const { app, send, key, ingest, untilRunEnds } = lensClient({ slots: 1 });

interface Answer<Data> {
  readonly data: Data;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

interface JobEvent {
  readonly data: { readonly jobUpdates: unknown };
}

async function ask<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  callerKey = app().adminKey,
): Promise<Answer<Data>> {
  const { body } = await send('POST', '/graphql', { query: document.toString(), variables }, callerKey);
  return body as unknown as Answer<Data>;
}

/** Opens a subscription. `events` resolves when `wanted` events with data have arrived, or when the stream ends. */
async function subscribe(query: string, wanted: number): Promise<{ readonly events: Promise<readonly string[]> }> {
  const answer = await fetch(`${app().url}/graphql/stream`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app().adminKey}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(60_000),
  });
  expect(answer.status).toBe(200);
  async function read(): Promise<readonly string[]> {
    const events: string[] = [];
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      events.push(...lines.filter((line) => line.startsWith('data: {')));
      if (events.length >= wanted) return events;
    }
    return events;
  }
  return { events: read() };
}

/** Expects that an administrator reads a lens, its findings and its runs by global id. Another caller gets nulls. */
async function expectNodes(id: string): Promise<void> {
  const page = 'totalCount pageInfo { hasNextPage hasPreviousPage endCursor } nodes { id runId status }';
  const queryOf = (nodes: string) => `{ ${nodes} { __typename id
    ... on Lens { name findings { id title } runs(first: 1) { ${page} } latestRun { id } }
    ... on Finding { title reason } ... on LensRun { runId error } } }`;
  interface Nodes {
    readonly data: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  }
  const read = async (ids: readonly unknown[], callerKey?: string) => {
    const query = queryOf(`nodes(ids: ${JSON.stringify(ids)})`);
    return ((await send('POST', '/graphql', { query }, callerKey)).body as unknown as Nodes).data['nodes'] ?? [];
  };
  interface RunPage {
    readonly totalCount: number;
    readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly endCursor: string };
    readonly nodes: readonly { readonly id: string; readonly runId: string }[];
  }
  const [lens] = await read([id]);
  const { findings, runs, latestRun } = lens as {
    readonly findings: readonly { readonly id: string; readonly title: string }[];
    readonly runs: RunPage;
    readonly latestRun: { readonly id: string };
  };
  expect([findings.length, runs.nodes[0]?.id]).toEqual([2, latestRun.id]);
  expect(runs).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
  const runsOf = async (args: string) => {
    const query = `{ lens(id: "${id}") { runs(${args}) { ${page} } } }`;
    return (await send('POST', '/graphql', { query })).body as unknown as {
      readonly data: { readonly lens: { readonly runs: RunPage | null } };
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
  };
  const earlier = (await runsOf(`after: "${runs.pageInfo.endCursor}"`)).data.lens.runs;
  expect(earlier).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: false, hasPreviousPage: true } });
  expect(earlier?.nodes).toHaveLength(1);
  // The last cursor is `999999999999999:x` in Base64.
  for (const invalid of [
    'first: 0',
    'first: 51',
    'first: -1',
    'after: "x"',
    'after: ""',
    'after: "OTk5OTk5OTk5OTk5OTk5Ong"',
  ])
    expect((await runsOf(invalid)).errors?.map(({ extensions }) => extensions.code)).toEqual(['INVALID_INPUT']);
  const ids = [findings[0]?.id, earlier?.nodes[0]?.id];
  expect(await read(ids)).toEqual([
    { __typename: 'Finding', id: ids[0], title: findings[0]?.title, reason: expect.toBeOneOf(['known', null]) },
    { __typename: 'LensRun', id: ids[1], runId: earlier?.nodes[0]?.runId, error: null },
  ]);
  const unknown = Buffer.from('Finding:none/none').toString('base64');
  expect(await read([unknown])).toEqual([null]);
  expect(await read([id, ...ids], (await key({})).key)).toEqual([null, null, null]);
}

describe('lenses in the graph', () => {
  it('are created, run, followed and changed, and their findings are listed and dismissed', async () => {
    await ingest(syntheticRuns(6, 5));
    const findings = await subscribe('subscription { findingChanges { title status lens { name } } }', 2);
    const jobs = await subscribe('subscription { jobUpdates(kind: "lens-run") { kind status attempts } }', 3);
    const input = { name: 'graph', model: 'judge', checks: ALL_CHECKS, enabled: false };
    const { data } = await ask(CreateLensDocument, { input });
    if (!('id' in data.createLens)) throw new Error('No lens was created.');
    const { id, lensId } = data.createLens;
    await untilRunEnds(lensId);
    const { data: read } = await ask(LensDocument, { id });
    expect(read.lens).toMatchObject({
      name: 'graph',
      latestRun: { status: 'COMPLETED', stage: 'Complete', error: null, coverage: { selected: 6, screened: 6 } },
    });
    expect(Number(read.lens?.spentUsd)).toBeGreaterThan(0);
    expect(read.lens?.findings).toHaveLength(2);
    const states = (await jobs.events)
      .slice(0, 3)
      .map((line) => (JSON.parse(line.slice(6)) as JobEvent).data.jobUpdates);
    expect(states).toEqual([
      { kind: 'lens-run', status: 'QUEUED', attempts: 0 },
      { kind: 'lens-run', status: 'RUNNING', attempts: 1 },
      { kind: 'lens-run', status: 'COMPLETED', attempts: 1 },
    ]);
    const findingEvents = await findings.events;
    expect(findingEvents.length).toBeGreaterThanOrEqual(2);
    expect(findingEvents.filter((event) => !event.includes('"status":"OPEN"'))).toEqual([]);
    const first = await ask(FindingsDocument, { filter: { lensId: id, kind: 'ISSUE', status: 'OPEN' }, first: 1 });
    expect(first.data.jobs).toEqual([{ kind: 'lens-run', status: 'COMPLETED', attempts: 1 }]);
    const [edge] = first.data.findings.edges;
    expect(edge?.node).toMatchObject({ priority: 'MEDIUM', occurrenceCount: 1, lens: { name: 'graph' } });
    expect(edge?.node.evidence).not.toEqual([]);
    for (const { span, spanId, role } of edge?.node.evidence ?? []) {
      expect(span?.spanId).toBe(spanId);
      expect(role).toBe('SUPPORT');
    }
    expect(first.data.findings.pageInfo.hasNextPage).toBe(true);
    const after = first.data.findings.pageInfo.endCursor;
    const second = await ask(FindingsDocument, { filter: { lensId: id }, first: 2, after });
    expect(second.data.findings.edges).toHaveLength(1);
    expect(second.data.findings.edges[0]?.node.title).not.toBe(edge?.node.title);
    const findingId = read.lens?.findings[0]?.findingId ?? '';
    const dismissal = await ask(SetFindingStatusDocument, {
      input: { lensId: id, findingId, status: 'DISMISSED', reason: 'known' },
    });
    expect(dismissal.data.setFindingStatus).toMatchObject({ findings: [{ status: 'DISMISSED', reason: 'known' }, {}] });
    const runs = await subscribe(`subscription { lensRun(id: "${id}") { status stage coverage { screened } } }`, 2);
    expect((await ask(RunLensDocument, { id })).data.runLens).toMatchObject({ latestRun: { stage: 'Queued' } });
    expect((await runs.events)[0]).toContain('"status":"QUEUED"');
    await untilRunEnds(lensId);
    const changed = await ask(UpdateLensDocument, { input: { id: lensId, settings: { ...input, name: 'other' } } });
    expect(changed.data.updateLens).toMatchObject({ name: 'other', revision: 2 });
    expect((await ask(CancelLensRunDocument, { id })).data.cancelLensRun).toMatchObject({ __typename: 'Lens' });
    await expectNodes(id);
  });

  it('refuse invalid input, unknown lenses and keys that may not read them', async () => {
    const input = { name: 'bad', model: 'judge', context: 'c', samplePercent: 0, concurrency: 0 };
    expect((await ask(CreateLensDocument, { input })).data.createLens).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['body', 'sample_percent'] }, { path: ['body', 'concurrency'] }],
    });
    expect((await ask(RunLensDocument, { id: 'none' })).data.runLens).toEqual({
      __typename: 'NotFoundError',
      message: 'Lens not found',
    });
    const stranger = (await key({})).key;
    const feed = await fetch(`${app().url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stranger}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { jobUpdates { id } }' }),
    });
    expect(await feed.text()).toContain('"code":"FORBIDDEN"');
    expect((await ask(FindingsDocument, { first: 1 }, stranger)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    expect((await ask(FindingsDocument, { first: 1, after: 'x' })).errors?.[0]?.extensions.code).toBe('INVALID_INPUT');
    expect((await ask(FindingsDocument, { first: 0 })).errors?.[0]?.extensions.code).toBe('INVALID_INPUT');
  });
});
