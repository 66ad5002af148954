import {
  getGuardrailUse,
  getGuardrailUseDetail,
  type GuardrailUseDetail,
  type GuardrailUseReport,
  listGuardrailRuns,
} from '../resolvers/guardrail-use.ts';
import type { GuardrailRun, GuardrailUse, GuardrailRunResult } from '../src/domain/guardrails/guardrail-use.ts';
import { choiceOf, integer, query, text } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Minimum percentages of blocked or failed runs for the states `warning` and `critical`. */
const WARNING_PERCENT = 5;
const CRITICAL_PERCENT = 15;

/** A percentage with two decimals. */
const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100);
/** Number of runs that count as blocked: a text was blocked or edited, or the guardrail did not answer. */
const blockedRuns = ({ intervened, failed }: Pick<GuardrailUse, 'intervened' | 'failed'>): number =>
  intervened + failed;
/** Number of runs that count as passed: the text is unchanged, also if it was flagged. */
const passedRuns = ({ passed, flagged }: Pick<GuardrailUse, 'passed' | 'flagged'>): number => passed + flagged;

function healthState(blockedPercent: number): string {
  if (blockedPercent >= CRITICAL_PERCENT) return 'critical';
  return blockedPercent >= WARNING_PERCENT ? 'warning' : 'healthy';
}

/**
 * Counts of one guardrail, and its mean latency in ms. There are no scores and no trends: `avgScore` is null, `trend`
 * always `stable`.
 */
function renderUse(use: GuardrailUse | null) {
  const blockedPercent = use === null ? 0 : percent(blockedRuns(use), use.runs);
  return {
    requestsEvaluated: use?.runs ?? 0,
    failRate: blockedPercent,
    avgScore: null,
    avgLatency: use === null ? null : Math.round((use.latencyMs / use.runs) * 100) / 100,
    status: healthState(blockedPercent),
    trend: 'stable',
  };
}

const renderDays = (days: GuardrailUseReport['days']) =>
  days.map((use) => ({ date: use.day, passed: passedRuns(use), blocked: blockedRuns(use) }));

function renderOverview({ guardrails, days }: GuardrailUseReport) {
  const total = guardrails.reduce((sum, { runs }) => sum + runs, 0);
  const blocked = guardrails.reduce((sum, use) => sum + blockedRuns(use), 0);
  return {
    rows: guardrails.map((use) => ({
      id: use.guardrailId,
      name: use.name,
      type: 'Guardrail',
      provider: use.kind,
      ...renderUse(use),
    })),
    chart: renderDays(days),
    totalRequests: total,
    totalBlocked: blocked,
    passRate: total === 0 ? 100 : percent(total - blocked, total),
    totalUsageUnits: {},
    totalCost: null,
    totalUntrackedUsageUnits: {},
  };
}

function renderDetail({ id, definition, use, days }: GuardrailUseDetail) {
  const description = definition?.info?.['description'];
  return {
    guardrail_id: id,
    guardrail_name: definition?.name ?? use?.name ?? id,
    type: 'Guardrail',
    provider: definition?.kind ?? use?.kind ?? '',
    ...renderUse(use),
    description: typeof description === 'string' ? description : null,
    time_series: renderDays(days),
  };
}

/** `action` of a run, by its result. */
const ACTIONS = {
  passed: 'passed',
  flagged: 'flagged',
  intervened: 'blocked',
  failed: 'failed',
} as const satisfies Readonly<Record<GuardrailRunResult, string>>;

/** One run of a guardrail. Snippets are null, because texts are not stored. */
const renderRun = (run: GuardrailRun) => ({
  id: run.id,
  timestamp: run.at.toISOString(),
  guardrail_id: run.guardrailId,
  guardrail_name: run.name,
  action: ACTIONS[run.result],
  mode: run.mode,
  score: null,
  latency_ms: run.latencyMs,
  model: run.model,
  call_id: run.callId,
  trace_id: run.traceId,
  input_snippet: null,
  output_snippet: null,
  reason: null,
});

const MAX_PAGE_SIZE = 100;
const PERIOD = { start_date: text, end_date: text };
const readPeriod = query(PERIOD);
const readLogs = query({
  guardrail_id: text,
  action: choiceOf(Object.values(ACTIONS)),
  ...PERIOD,
  page: integer({ min: 1, max: 1_000_000, defaultValue: 1 }),
  page_size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: 50 }),
});

function parsePeriod(search: string) {
  const { start_date: from, end_date: to } = readPeriod(search);
  return { from, to };
}

function parseLogs(search: string) {
  const parameters = readLogs(search);
  const [limit, page] = [Number(parameters.page_size), Number(parameters.page)];
  const results = Object.keys(ACTIONS) as GuardrailRunResult[];
  return {
    from: parameters.start_date,
    to: parameters.end_date,
    guardrailId: parameters.guardrail_id,
    result: results.find((result) => ACTIONS[result] === parameters.action) ?? null,
    limit,
    offset: (page - 1) * limit,
  };
}

const READING = {
  ...MANAGEMENT_READ,
  failureForm: { body: 'text' },
} as const satisfies Partial<RouteRow>;

/** Reports over the runs of guardrails. */
export const guardrailUseRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'guardrailUse.overview',
    querySchema: readPeriod.schema,
    paths: ['/guardrails/usage/overview'],
    statuses: [200, 401],
    parse: ({ search }) => parsePeriod(search),
    run: getGuardrailUse,
    render: (report) => json(renderOverview(report)),
  }),
  route({
    ...READING,
    name: 'guardrailUse.detail',
    querySchema: readPeriod.schema,
    paths: ['/guardrails/usage/detail/:id'],
    statuses: [200, 401, 404],
    parse: ({ search, params }) => ({ id: params['id'] ?? '', ...parsePeriod(search) }),
    run: getGuardrailUseDetail,
    render: (detail) => json(renderDetail(detail)),
  }),
  route({
    ...READING,
    name: 'guardrailUse.logs',
    querySchema: readLogs.schema,
    paths: ['/guardrails/usage/logs'],
    statuses: [200, 401, 422],
    parse: ({ search }) => parseLogs(search),
    run: listGuardrailRuns,
    render: ({ runs, totalCount }, { search }) => {
      const { page, page_size: size } = readLogs(search);
      return json({ logs: runs.map(renderRun), total: totalCount, page: Number(page), page_size: Number(size) });
    },
  }),
];
