import { type CallToPrice, estimateCall, estimateUsage, type UsageEstimate } from '../resolvers/spend-estimates.ts';
import type { Usage } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { rateText, type Rate, type Usd, usdNumber } from '../src/domain/money.ts';
import { list, object as objectIn, text as textIn } from '../src/wire/json/fields.ts';
import { usageOf } from '../src/wire/chat-completions/answer.ts';
import { fields, parseObject, requiredText, wholeNumber } from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const POSTING = {
  ...MANAGEMENT,
  method: 'POST',
  bodyLimit: 'setting',
} as const;

const readEstimate = fields({
  model: requiredText,
  input_tokens: wholeNumber,
  output_tokens: wholeNumber,
  cache_read_input_tokens: wholeNumber,
  cache_creation_input_tokens: wholeNumber,
  reasoning_tokens: wholeNumber,
  num_requests_per_day: wholeNumber,
  num_requests_per_month: wholeNumber,
});

/** A count; 0 when absent. Throws InvalidInput below zero. */
function parseCount(input: number | null, name: string): number {
  if (input === null || input >= 0) return input ?? 0;
  const message = 'Input should be greater than or equal to 0';
  throw new InvalidInput('The body is not valid.', [{ path: ['body', name], rule: 'greater_than_equal', message }]);
}

function parseEstimate(body: Uint8Array) {
  const input = readEstimate(body);
  const usage: Usage = {
    inputTokens: parseCount(input.input_tokens, 'input_tokens'),
    outputTokens: parseCount(input.output_tokens, 'output_tokens'),
    cacheReadTokens: parseCount(input.cache_read_input_tokens, 'cache_read_input_tokens'),
    cacheWriteTokens: parseCount(input.cache_creation_input_tokens, 'cache_creation_input_tokens'),
    reasoningTokens: parseCount(input.reasoning_tokens, 'reasoning_tokens'),
  };
  const perDay =
    input.num_requests_per_day === null ? null : parseCount(input.num_requests_per_day, 'num_requests_per_day');
  const perMonth =
    input.num_requests_per_month === null ? null : parseCount(input.num_requests_per_month, 'num_requests_per_month');
  return { model: input.model, usage, perDay, perMonth };
}

const rateNumber = (rate: Rate | null): number | null => (rate === null ? null : Number(rateText(rate)));

/** Part of a cost, as it is written before `cost` in member names; empty for the total. */
type CostPart = '' | 'input_' | 'output_' | 'margin_' | 'cache_read_' | 'cache_creation_' | 'reasoning_';

/** Costs in USD of a number of requests; all null if the number is null. `nameOf` returns the member name of a part. */
function renderCosts<Name extends string, Requests extends number | null>(
  { total, parts, margin }: UsageEstimate,
  requests: Requests,
  nameOf: (part: CostPart) => Name,
) {
  const costs: Readonly<Record<CostPart, Usd>> = {
    '': total,
    input_: parts.input,
    output_: parts.output,
    margin_: margin,
    cache_read_: parts.cacheRead,
    cache_creation_: parts.cacheWrite,
    reasoning_: parts.reasoning,
  };
  const members = Object.entries(costs).map(([part, cost]) => [
    nameOf(part as CostPart),
    requests === null ? null : usdNumber((cost * BigInt(requests)) as Usd),
  ]);
  return Object.fromEntries(members) as Readonly<Record<Name, Requests extends null ? null : number>>;
}

function renderEstimate(estimate: UsageEstimate, body: Uint8Array) {
  const { model, usage, perDay, perMonth } = parseEstimate(body);
  const { rates } = estimate;
  return {
    model,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    num_requests_per_day: perDay,
    num_requests_per_month: perMonth,
    ...renderCosts(estimate, 1, (part) => `${part}cost_per_request` as const),
    ...renderCosts(estimate, perDay, (part) => `daily_${part}cost` as const),
    ...renderCosts(estimate, perMonth, (part) => `monthly_${part}cost` as const),
    input_cost_per_token: rateNumber(rates.input),
    output_cost_per_token: rateNumber(rates.output),
    cache_read_input_token_cost: rateNumber(rates.cacheRead),
    cache_creation_input_token_cost: rateNumber(rates.cacheWrite),
    output_cost_per_reasoning_token: rateNumber(rates.reasoning),
    provider: estimate.provider,
  };
}

const invalidCall = (message: string): InvalidInput => new InvalidInput(message, [], { field: 'priced_call' });

/** A call to price: a model with messages, or a completion with its usage. Throws InvalidInput. */
function parseCall(body: Uint8Array): CallToPrice {
  const input = parseObject(body);
  const completion = objectIn(input['completion_response']);
  const model = textIn(input['model']) ?? textIn(completion['model']);
  if (model === null) throw invalidCall("Bad Request - Either 'model' or 'completion_response' must be provided");
  const usage = usageOf(completion['usage']);
  if (usage !== null) return { model, usage };
  if (!Array.isArray(input['messages'])) throw invalidCall("Bad Request - 'messages' must be provided with 'model'");
  return { model, messages: list(input['messages']) };
}

/** Estimated costs of calls. */
export const spendEstimateRoutes: readonly RouteRow[] = [
  route({
    ...POSTING,
    name: 'spend.calculate',
    bodySchema: objectSchema({
      model: { type: 'string' },
      messages: { type: 'array' },
      completion_response: { type: 'object' },
    }),
    paths: ['/spend/calculate'],
    statuses: [200, 400, 401, 422],
    parse: ({ body }) => parseCall(body),
    run: estimateCall,
    render: ({ total }) => json({ cost: usdNumber(total) }),
  }),
  route({
    ...POSTING,
    name: 'spend.estimate',
    bodySchema: readEstimate.schema,
    paths: ['/cost/estimate'],
    statuses: [200, 401, 404, 422],
    parse: ({ body }) => parseEstimate(body),
    run: estimateUsage,
    render: (estimate, { body }) => json(renderEstimate(estimate, body)),
  }),
];
