import type { AnswerTypes } from './notation.ts';

/**
 * Answer types of the routes about the use of guardrails, in the notation of `http/type-notation.ts`.
 * `requestsEvaluated` and `totalRequests` count runs of guardrails. Rates are percentages, latencies are in ms. Fields
 * of type `null` exist for LiteLLM's clients; the gateway has no values for them.
 */
export const GUARDRAIL_USE_ANSWERS: AnswerTypes = {
  'guardrailUse.detail': `
    { guardrail_id: string, guardrail_name: string, type: string, provider: string, requestsEvaluated: integer,
    failRate: number, avgScore: null, avgLatency: number | null, status: string, trend: string,
    description: string | null, time_series: { date: string, passed: integer, blocked: integer }[] }
  `,
  'guardrailUse.logs': `
    { logs: { id: string, timestamp: string, guardrail_id: string, guardrail_name: string, action: string, mode: string,
    score: null, latency_ms: number, model: string, call_id: string, trace_id: string, input_snippet: null,
    output_snippet: null, reason: null }[], total: integer, page: integer, page_size: integer }
  `,
  'guardrailUse.overview': `
    { rows: { id: string, name: string, type: string, provider: string, requestsEvaluated: integer, failRate: number,
    avgScore: null, avgLatency: number | null, status: string, trend: string }[], chart: { date: string,
    passed: integer, blocked: integer }[], totalRequests: integer, totalBlocked: integer, passRate: number,
    totalUsageUnits: object, totalCost: null, totalUntrackedUsageUnits: object }
  `,
};
