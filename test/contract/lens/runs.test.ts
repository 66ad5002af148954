import { beforeAll, describe, expect, it, vi } from 'vitest';
import { checkIdOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { aLens, lensClient, type WireLens } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const AGENT_RUNS = syntheticRuns(24, 7);
const { send, judge, ingest, create, untilRunEnds, lensAt } = lensClient({ slots: 1 });

/** A third of the agent runs: eight. */
const failingAgentRuns = AGENT_RUNS.filter(({ failure }) => failure !== null);

describe('a run of a lens by the worker of this process', () => {
  let lens: WireLens;
  beforeAll(async () => {
    await ingest(AGENT_RUNS);
    lens = await untilRunEnds((await create(aLens())).id);
  });

  it('finds exactly the planted failures', () => {
    const [run] = lens.jobs;
    expect(run).toMatchObject({
      status: 'completed',
      stage: 'Complete',
      error: '',
      attempts: 1,
      worker_id: 'built-in',
    });
    expect(run.coverage).toMatchObject({
      eligible: 24,
      selected: 24,
      screened: 24,
      grouping_batches: 8,
      grouped_batches: 8,
      candidates: 8,
      investigated: 8,
      inconclusive: 0,
      failed_tasks: 0,
      partial: 0,
    });
    expect(lens.findings.map(({ check_id: check }) => check).toSorted()).toEqual(
      failingAgentRuns.map(({ failure }) => checkIdOf(failure ?? 'wrong language')).toSorted(),
    );
    for (const finding of lens.findings) expect(finding).toMatchObject({ kind: 'issue', status: 'open' });
  });

  it('costs the same amount as its key is charged, and releases its reservation', async () => {
    expect(lens.jobs[0].cost).toBeGreaterThan(0);
    expect(lens.spent).toBeCloseTo(lens.jobs[0].cost, 12);
    expect(lens['reservations']).toEqual([]);
    const { body } = await send('GET', '/key/list?key_alias=lens-analysis&return_full_object=true');
    const [key] = body['keys'] as readonly Json[];
    expect(key?.['spend']).toBeCloseTo(lens.spent, 9);
  });

  it('auditLog.list 200: the worker is the author of the key that it creates', async () => {
    const { body } = await send('GET', '/audit?changed_by=system:%20lens-worker');
    expect(body).toEqual({
      audit_logs: [
        {
          id: expect.any(String),
          updated_at: expect.any(String),
          changed_by: 'system: lens-worker',
          actor: 'system: lens-worker',
          changed_by_api_key: 'litellm_proxy_master_key',
          action: 'created',
          table_name: 'LiteLLM_VerificationToken',
          object_id: expect.any(String),
          before_value: null,
          updated_values: expect.objectContaining({ alias: 'lens-analysis', created_by: 'lens-worker' }),
        },
      ],
      total: 1,
      page: 1,
      page_size: 10,
      total_pages: 1,
    });
  });

  it('lens.execution 200: every quote of a finding is in its span', async () => {
    expect(lens.findings.flatMap(({ evidence }) => evidence).length).toBeGreaterThanOrEqual(failingAgentRuns.length);
    for (const { evidence } of lens.findings)
      for (const { execution_id: execution, span_id: span, quote } of evidence) {
        const { status, body } = await send('GET', `/lens/${lens.id}/executions/${encodeURIComponent(execution)}`);
        expect(status).toBe(200);
        const parts = body['parts'] as readonly { readonly span_id: string; readonly content: string }[];
        expect(parts.find((part) => part.span_id === span)?.content).toContain(quote);
      }
  });

  it('lens.reviews 200: lists the reviews after a position', async () => {
    const path = `/lens/${lens.id}/runs/${lens.jobs[0].id}/reviews`;
    const { body } = await send('GET', `${path}?after=20`);
    expect(body).toMatchObject({ reviewed: 24 });
    expect(body['reviews']).toHaveLength(4);
    const all = (await send('GET', path)).body['reviews'] as readonly Json[];
    expect(all[0]).toMatchObject({ agent: 'shop', extraction: null, cannot_assess: false, reused: false });
  });

  it('lens.preview, lens.agents, lens.activity, lens.traceFindings 200: show the traces, agents and findings', async () => {
    const { body } = await send('POST', '/lens/preview/sample', {
      selection: { agent_name: 'shop', sample_percent: 50 },
    });
    expect(body).toMatchObject({ eligible: 24, selected: 12, next_offset: null });
    const [execution] = body['executions'] as readonly Json[];
    expect(execution).toMatchObject({ source: 'traces', service: 'shop', name: 'shop agent', root_seen: true });
    const otherAgent = { selection: { filters: [{ key: 'agent.name', value: 'other' }] } };
    expect((await send('POST', '/lens/preview/sample', otherAgent)).body).toMatchObject({ eligible: 0 });
    expect((await send('GET', '/lens/agents')).body).toEqual(['shop']);
    expect((await send('GET', '/lens/activity/available')).body).toEqual({ traces: true, requests: false });
    const [first] = failingAgentRuns;
    const ref = String(execution?.['trace_ref']);
    const target = { trace_id: execution?.['trace_id'], trace_ref: ref };
    const unknown = { trace_id: first?.traceId, trace_ref: 'other' };
    const counts = (await send('POST', '/lens/traces/findings', { traces: [target, target, unknown] })).body;
    expect(counts).toEqual([
      { ...target, finding_count: expect.any(Number) },
      { ...unknown, finding_count: null },
    ]);
  });

  it('a second run reuses all reviews, keeps the findings, and excludes calls of the first run', async () => {
    const before = judge().calls();
    const [run] = lens.jobs;
    await send('POST', `/lens/${lens.id}/runs`, { lookback_hours: 24 });
    const rerun = await untilRunEnds(lens.id);
    expect(rerun.jobs[0].id).not.toBe(run.id);
    expect(rerun.jobs[0].coverage).toMatchObject({ eligible: 24, screened: 24, reused: 24, reusable: 24 });
    // Eight calls for groups and eight for examinations. Reviews need no calls, because they are reused.
    expect(judge().calls() - before).toBe(16);
    expect(rerun.findings.map(({ id }) => id).toSorted()).toEqual(lens.findings.map(({ id }) => id).toSorted());
    expect((await send('GET', `/lens/${lens.id}/runs`)).body).toHaveLength(2);
  });

  it('records its own calls in one named trace, which lists can exclude', async () => {
    const query = `{ own: traces(first: 5, filter: { internal: true }) { nodes { traceId name tags } }
      others: traces(first: 50, filter: { internal: false, tag: "litellm-lens" }) { totalCount } }`;
    const { data } = (await send('POST', '/graphql', { query })).body as {
      readonly data: { readonly own: { readonly nodes: readonly object[] }; readonly others: object };
    };
    const traceId = lens.jobs[0].id.replaceAll('-', '');
    expect(data.own.nodes).toContainEqual({ traceId, name: 'chat judge', tags: ['litellm-lens'] });
    expect(data.others).toEqual({ totalCount: 0 });
  });

  it('lens.finding 200: sets the status of a finding; an unknown finding changes nothing', async () => {
    const [finding] = lens.findings;
    const path = `/lens/${lens.id}/findings/${finding?.id}`;
    await send('PATCH', path, { status: 'dismissed', reason: 'known' });
    const dismissed = (await lensAt(lens.id)).findings.find(({ id }) => id === finding?.id);
    expect(dismissed).toMatchObject({ status: 'dismissed', reason: 'known' });
    const unchanged = (await send('PATCH', `/lens/${lens.id}/findings/none`, { status: 'open' })).body as WireLens;
    expect(unchanged.findings.filter(({ status }) => status === 'dismissed')).toHaveLength(1);
  });

  it('stops at a used-up budget, with an error that names the budget', async () => {
    const { id } = await create(aLens({ name: 'poor', monthly_budget: 0.02, context: 'more' }));
    const limited = await untilRunEnds(id);
    expect(limited.jobs[0].error).toMatch(/remains in the investigation budget/);
    expect(limited.spent).toBeLessThanOrEqual(0.02);
    expect(limited['reservations']).toEqual([]);
  });

  it('reports no spend in the next month, over HTTP and in the graph', async () => {
    const now = new Date();
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    vi.useFakeTimers({ now: nextMonth, toFake: ['Date'] });
    try {
      const spend = { budget_month: nextMonth.toISOString().slice(0, 7), spent: 0 };
      expect(await lensAt(lens.id)).toMatchObject(spend);
      const { lenses } = (await send('GET', '/lens')).body as { readonly lenses: readonly WireLens[] };
      expect(lenses.find(({ id }) => id === lens.id)).toMatchObject(spend);
      const query = '{ lenses { lensId spentUsd } }';
      const { data } = (await send('POST', '/graphql', { query })).body as {
        readonly data: { readonly lenses: readonly object[] };
      };
      expect(data.lenses).toContainEqual({ lensId: lens.id, spentUsd: '0' });
      expect((await send('POST', `/lens/${lens.id}/cancel`)).body).toMatchObject(spend);
    } finally {
      vi.useRealTimers();
    }
  });

  it('completes against the built-in demo model', async () => {
    const { id } = await create({ name: 'demo', model: 'demo', context: 'Answer politely.', enabled: false });
    const completed = await untilRunEnds(id);
    expect(completed.jobs[0]).toMatchObject({ status: 'completed', error: '', cost: 0 });
    expect(completed.findings).toEqual([]);
  });
});

it('lens.create 200: a run with more concurrent calls than a run makes completes', async () => {
  const { id } = await create(aLens({ concurrency: 100_000, sample_size: 1 }));
  expect(await untilRunEnds(id)).toMatchObject({
    settings: { concurrency: 100_000 },
    jobs: [{ status: 'completed', coverage: { selected: 1 } }],
  });
});
