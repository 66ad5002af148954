import {
  getGuardrailUse,
  getGuardrailUseDetail,
  type GuardrailUseDetail,
  type GuardrailUseReport,
  listGuardrailRuns,
} from '../resolvers/guardrail-use.ts';
import type { GuardrailRun, GuardrailUse, RunResult } from '../src/domain/guardrails/guardrail-use.ts';
import { integer, query, text } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Minimum shares of intervening runs, in percent, for the states `warning` and `critical` of a guardrail. */
const WARNS_AT = 5;
const CRITICAL_AT = 15;

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100);
const blockedOf = ({ intervened, failed }: GuardrailUse): number => intervened + failed;
const passedOf = ({ passed, flagged }: GuardrailUse): number => passed + flagged;

function statusOf(share: number): string {
  if (share >= CRITICAL_AT) return 'critical';
  return share >= WARNS_AT ? 'warning' : 'healthy';
}

/** Numbers of one guardrail. Guardrails give no scores, and no earlier period is compared. */
function numbersOf(use: GuardrailUse | null) {
  const share = use === null ? 0 : percent(blockedOf(use), use.runs);
  return {
    requestsEvaluated: use?.runs ?? 0,
    failRate: share,
    avgScore: null,
    avgLatency: use === null ? null : Math.round((use.latencyMs / use.runs) * 100) / 100,
    status: statusOf(share),
    trend: 'stable',
  };
}

const chartOf = (days: GuardrailUseReport['days']) =>
  days.map((use) => ({ date: use.day, passed: passedOf(use), blocked: blockedOf(use) }));

function renderOverview({ guardrails, days }: GuardrailUseReport) {
  const total = guardrails.reduce((sum, { runs }) => sum + runs, 0);
  const blocked = guardrails.reduce((sum, use) => sum + blockedOf(use), 0);
  return {
    rows: guardrails.map((use) => ({
      id: use.guardrailId,
      name: use.name,
      type: 'Guardrail',
      provider: use.kind,
      ...numbersOf(use),
    })),
    chart: chartOf(days),
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
    ...numbersOf(use),
    description: typeof description === 'string' ? description : null,
    time_series: chartOf(days),
  };
}

/** Names of results on the wire. */
const ACTIONS: Readonly<Record<RunResult, string>> = {
  passed: 'passed',
  flagged: 'flagged',
  intervened: 'blocked',
  failed: 'failed',
};

/** A run. Texts of its call are not stored. */
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

const MOST_RUNS = 100;
const PERIOD = { start_date: text, end_date: text };
const readPeriod = query(PERIOD);
const readLogs = query({
  guardrail_id: text,
  action: text,
  ...PERIOD,
  page: integer({ least: 1, most: 1_000_000, otherwise: 1 }),
  page_size: integer({ least: 1, most: MOST_RUNS, otherwise: 50 }),
});

function periodIn(search: string) {
  const { start_date: from, end_date: to } = readPeriod(search);
  return { from, to };
}

function parseLogs(search: string) {
  const parameters = readLogs(search);
  const [limit, page] = [Number(parameters.page_size), Number(parameters.page)];
  const named = Object.entries(ACTIONS).find(([, action]) => action === parameters.action);
  return {
    from: parameters.start_date,
    to: parameters.end_date,
    guardrailId: parameters.guardrail_id,
    result: (named?.[0] ?? null) as RunResult | null,
    limit,
    offset: (page - 1) * limit,
  };
}

const READING = {
  ...MANAGEMENT_READ,
  failures: { body: 'text' },
} as const satisfies Partial<RouteRow>;

/** Use of guardrails. */
export const guardrailUseRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'guardrailUse.overview',
    query: readPeriod.schema,
    paths: ['/guardrails/usage/overview'],
    answers: [200, 401],
    parse: ({ search }) => periodIn(search),
    run: getGuardrailUse,
    render: (report) => json(renderOverview(report)),
  }),
  route({
    ...READING,
    name: 'guardrailUse.detail',
    query: readPeriod.schema,
    paths: ['/guardrails/usage/detail/:id'],
    answers: [200, 401, 404],
    parse: ({ search, params }) => ({ id: params['id'] ?? '', ...periodIn(search) }),
    run: getGuardrailUseDetail,
    render: (detail) => json(renderDetail(detail)),
  }),
  route({
    ...READING,
    name: 'guardrailUse.logs',
    query: readLogs.schema,
    paths: ['/guardrails/usage/logs'],
    answers: [200, 401, 422],
    parse: ({ search }) => parseLogs(search),
    run: listGuardrailRuns,
    render: ({ runs, totalCount }, { search }) => {
      const { page, page_size: size } = readLogs(search);
      return json({ logs: runs.map(renderRun), total: totalCount, page: Number(page), page_size: Number(size) });
    },
  }),
];
