import { beforeAll, describe, expect, it } from 'vitest';
import { exportOf, syntheticRuns } from '../../bench/lens/runs.ts';
import { VERSION } from '../../src/domain/version.ts';
import { aLens, lensClient, type WireLens } from '../support/lens-client.ts';

const { send, app, key, ingest, create, untilRunEnds } = lensClient({ slots: 1 });
const AGENT_RUNS = syntheticRuns(8, 61);
const SERVICE = 'shop';

interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function ask(query: string, variables: object = {}, callerKey = app().adminKey): Promise<Answer> {
  return (await send('POST', '/graphql', { query, variables }, callerKey)).body as unknown as Answer;
}
const codesOf = ({ errors }: Answer) => errors?.map(({ extensions }) => extensions.code);

let lens: WireLens;
beforeAll(async () => {
  await ingest(AGENT_RUNS);
  lens = await untilRunEnds((await create(aLens())).id);
});

const PREVIEW = `query ($input: LensSamplePreviewInput!) { lensSamplePreview(input: $input) {
  eligible selected nextOffset executions { id traceId name spanCount agent service startedAt trace { traceId spanCount } }
} }`;

describe('the preview of a sample', () => {
  it('equals the page of the HTTP route, with the traces', async () => {
    // 50 percent of the eight agent runs are four. `sampleSize` limits them to three.
    const selection = { samplePercent: 50, sampleSize: 3 };
    const { data } = await ask(PREVIEW, { input: { selection } });
    const { body } = await send('POST', '/lens/preview/sample', {
      selection: { sample_percent: 50, sample_size: 3 },
    });
    const executions = body['executions'] as readonly Readonly<Record<string, unknown>>[];
    expect(data).toEqual({
      lensSamplePreview: {
        eligible: 8,
        selected: 3,
        nextOffset: null,
        executions: executions.map((execution) => ({
          id: execution['id'],
          traceId: execution['trace_id'],
          name: execution['name'],
          spanCount: execution['span_count'],
          agent: expect.any(String),
          service: execution['service'],
          startedAt: execution['start_time'],
          trace: { traceId: execution['trace_id'], spanCount: execution['span_count'] },
        })),
      },
    });
    // The page has all eligible executions, not only those that a run would select.
    expect(executions).toHaveLength(8);
  });

  it('has the executions of the selection, and continues at an offset', async () => {
    const preview = (await ask(PREVIEW, { input: {} })).data['lensSamplePreview'] as {
      readonly executions: readonly { readonly id: string }[];
    };
    const ids = preview.executions.map(({ id }) => id);
    const eligible = async (input: object) =>
      ((await ask(PREVIEW, { input })).data['lensSamplePreview'] as { readonly eligible: number }).eligible;
    expect(await eligible({ selection: { executionIds: ids.slice(0, 2) } })).toBe(2);
    expect(await eligible({ selection: { service: 'no such' } })).toBe(0);
    expect(await eligible({ selection: { attributes: [{ key: 'service.name', value: SERVICE }] } })).toBe(8);
    expect(await eligible({ selection: { attributes: [{ key: 'service.name', value: 'x' }] } })).toBe(0);
    expect(await eligible({ asOf: new Date(Date.now() - 86_400_000 * 3).toISOString() })).toBe(0);
    const lastPage = (await ask(PREVIEW, { input: { offset: 6 } })).data['lensSamplePreview'];
    expect(lastPage).toMatchObject({ nextOffset: null, executions: ids.slice(6).map((id) => ({ id })) });
    expect((await ask(PREVIEW, { input: { offset: 2_147_483_647 } })).data).toMatchObject({
      lensSamplePreview: { eligible: 8, executions: [], nextOffset: null },
    });
  });

  it.each([
    { offset: -1 },
    { lookbackHours: 0 },
    { lookbackHours: 2_147_483_647 },
    { selection: { samplePercent: 0 } },
    { selection: { samplePercent: 101 } },
    { selection: { sampleSize: 0 } },
    { selection: { executionIds: ['no id'] } },
  ])('is refused for %j', async (input) => {
    expect(codesOf(await ask(PREVIEW, { input }))).toEqual(['INVALID_INPUT']);
  });

  it('is allowed for administrators with full or read-only access, and refused for other callers', async () => {
    const viewer = (await key({ user_role: 'proxy_admin_viewer' })).key;
    expect((await ask(PREVIEW, { input: {} }, viewer)).data).toMatchObject({ lensSamplePreview: { eligible: 8 } });
    for (const draft of [{}, { team_id: 't' }, { user_role: 'internal_user_viewer' }]) {
      const refused = await ask(PREVIEW, { input: {} }, (await key(draft)).key);
      expect([refused.data, codesOf(refused)]).toEqual([{ lensSamplePreview: null }, ['FORBIDDEN']]);
    }
    expect(codesOf(await ask(PREVIEW, { input: {} }, ''))).toEqual(['UNAUTHENTICATED']);
  });
});

describe('edges of lenses', () => {
  it('lead from findings to content, spans, traces and agents, and from traces to findings', async () => {
    const query = `query ($id: ID!) { lens(id: $id) {
      latestRun { coverage { groupingBatches groupedBatches reusable } callsTrace { name costUsd models }
        executions(first: 1, offset: 1) { id } }
      findings { title revision brief mergedFindingIds executionIds occurrenceCount
        evidence { executionId quote trace { traceId findingCount agents { name } } span { spanId } } }
    } }`;
    const { data, errors } = await ask(query, { id: lens.id });
    expect(errors).toBeUndefined();
    const { findings, latestRun } = data['lens'] as {
      readonly findings: readonly {
        readonly executionIds: readonly string[];
        readonly occurrenceCount: number;
        readonly revision: number;
        readonly evidence: readonly { readonly executionId: string; readonly quote: string }[];
      }[];
      readonly latestRun: object;
    };
    expect(latestRun).toEqual({
      coverage: { groupingBatches: expect.any(Number), groupedBatches: expect.any(Number), reusable: 0 },
      callsTrace: { name: 'chat judge', costUsd: expect.stringMatching(/^0\.\d+$/), models: ['judge'] },
      executions: [{ id: expect.any(String) }],
    });
    expect(findings.length).toBeGreaterThan(0);
    const countsQuery = `query ($id: ID!) { all: findings(first: 1, filter: { lensId: $id }) { totalCount nodes { title } }
      none: findings(filter: { lensId: $id, status: DISMISSED }) { totalCount } }`;
    const ordersQuery = `{ latest: findings { nodes { id } } oldest: findings(orderBy: { direction: ASC }) { nodes { id } } }`;
    const { latest, oldest } = (await ask(ordersQuery)).data as Record<string, { readonly nodes: readonly unknown[] }>;
    expect(oldest?.nodes).toEqual(latest?.nodes.toReversed());
    expect((await ask(countsQuery, { id: lens.id })).data).toMatchObject({
      all: { totalCount: findings.length, nodes: [{}] },
      none: { totalCount: 0 },
    });
    for (const finding of findings) {
      expect(finding).toMatchObject({ occurrenceCount: finding.executionIds.length, revision: 1 });
      expect(finding.evidence).not.toEqual([]);
      for (const evidence of finding.evidence)
        expect(evidence).toMatchObject({
          trace: { findingCount: expect.any(Number), agents: [{ name: 'shop' }] },
          span: { spanId: expect.stringMatching(/^[0-9a-f]{16}$/) },
        });
    }
    const [firstEvidence] = findings[0]?.evidence ?? [];
    const content = `query ($lens: ID!, $execution: ID!) { lensExecution(lensId: $lens, executionId: $execution) {
      execution { traceId } nextCursor parts { spanId parentSpanId name kind content truncated startedAt } } }`;
    const execution = await ask(content, { lens: lens.id, execution: firstEvidence?.executionId });
    const { parts } = execution.data['lensExecution'] as { readonly parts: readonly { readonly content: string }[] };
    expect(parts.some((part) => part.content.includes(firstEvidence?.quote ?? 'none'))).toBe(true);
    const foreign = await ask(content, { lens: lens.id, execution: firstEvidence?.executionId }, (await key({})).key);
    expect([foreign.data, codesOf(foreign)]).toEqual([{ lensExecution: null }, ['FORBIDDEN']]);
    expect(codesOf(await ask(content, { lens: lens.id, execution: 'x' }))).toEqual(['NOT_FOUND']);
    expect(codesOf(await ask(content, { lens: 'x', execution: firstEvidence?.executionId }))).toEqual(['NOT_FOUND']);
  });

  it('show a team its own trace without the findings about it', async () => {
    const [agentRun] = AGENT_RUNS;
    const query = `query ($id: ID!) { trace(id: $id) { traceId findingCount } }`;
    expect((await ask(query, { id: agentRun?.traceId })).data).toEqual({
      trace: { traceId: agentRun?.traceId, findingCount: expect.any(Number) },
    });
    const [ownRun] = syntheticRuns(1, 62);
    const sender = (await key({ team_id: 'team-x' })).key;
    await send('POST', '/v1/traces', exportOf(ownRun === undefined ? [] : [ownRun], Date.now() - 3_600_000), sender);
    const answer = await ask(query, { id: ownRun?.traceId }, sender);
    expect([answer.data, codesOf(answer)]).toEqual([
      { trace: { traceId: ownRun?.traceId, findingCount: null } },
      ['FORBIDDEN'],
    ]);
    // No lens has assessed this trace, so that an administrator does not see a count either.
    expect((await ask(query, { id: ownRun?.traceId })).data).toMatchObject({ trace: { findingCount: null } });
  });
});

describe('a run with its own settings', () => {
  const RUN_LENS = `mutation ($input: RunLensInput!) { runLens(input: $input) { __typename
    ... on Lens { settings latestRun { model executions { id } } } ... on UserError { message } } }`;

  it('uses the settings and the window of its request, and does not change the lens', async () => {
    const input = {
      id: lens.id,
      lookbackHours: 48,
      settings: { name: 'once', model: 'judge', context: 'Be brief.', sampleSize: 2, attributes: [] },
    };
    expect((await ask(RUN_LENS, { input })).data).toMatchObject({
      runLens: { __typename: 'Lens', settings: { name: 'l', sample_size: null }, latestRun: { model: 'judge' } },
    });
    const lensAfterRun = await untilRunEnds(lens.id);
    // Eligible are the eight agent runs and the trace of team-x.
    expect(lensAfterRun.jobs[0].coverage).toMatchObject({ eligible: 9, selected: 2 });
    const times = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    await ask(RUN_LENS, { input: { id: lens.id, ...times } });
    expect((await untilRunEnds(lens.id)).jobs[0].coverage).toMatchObject({ eligible: 0 });
  });

  it.each([
    { lookbackHours: 0 },
    { from: '2020-01-01T00:00:00Z' },
    { from: '2020-01-02T00:00:00Z', to: '2020-01-01T00:00:00Z' },
    { settings: { name: 'x', model: 'judge' } },
  ])('is refused for %j', async (overrides) => {
    expect((await ask(RUN_LENS, { input: { id: lens.id, ...overrides } })).data).toMatchObject({
      runLens: { __typename: 'InvalidInputError' },
    });
  });
});

describe('other fields of lenses:', () => {
  it('lensService shows the address and versions to every key', async () => {
    const query = '{ lensService { url storageReady release workerProtocol } }';
    const lensService = { url: app().url, storageReady: true, release: VERSION, workerProtocol: 7 };
    expect((await ask(query, {}, (await key({})).key)).data).toEqual({ lensService });
    expect(codesOf(await ask(query, {}, ''))).toEqual(['UNAUTHENTICATED']);
  });

  it('lensAgents lists the agents of stored traces for administrators, and is refused for other callers', async () => {
    expect((await ask('{ lensAgents }')).data).toEqual({ lensAgents: ['shop'] });
    expect(codesOf(await ask('{ lensAgents }', {}, (await key({})).key))).toEqual(['FORBIDDEN']);
  });

  it('a dataset has the file name and lines of the export over HTTP', async () => {
    const { body } = await send('POST', '/lens/datasets', { name: 'exported' });
    const id = String(body['id']);
    const query = 'query ($id: ID!) { dataset(id: $id) { fileName jsonLines } }';
    expect((await ask(query, { id })).data).toEqual({
      dataset: { fileName: `dataset-${id}-r0.jsonl`, jsonLines: null },
    });
    const caseOf = (content: string, included: boolean) => ({ messages: [{ role: 'user', content }], included });
    const cases = [caseOf('in', true), caseOf('out', false)];
    await send('POST', `/lens/datasets/${id}/revisions`, { base_revision: 0, cases });
    const authorization = `Bearer ${app().adminKey}`;
    const download = await app().call('GET', `/lens/datasets/${id}/export`, undefined, { authorization });
    const text = await download.text();
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect((await ask(query, { id })).data).toEqual({
      dataset: { fileName: `dataset-${id}-r1.jsonl`, jsonLines: text },
    });
    expect(download.headers.get('content-disposition')).toBe(`attachment; filename="dataset-${id}-r1.jsonl"`);
  });
});
