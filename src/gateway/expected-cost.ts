import type { CatalogSnapshot } from '../domain/catalog/catalog.ts';
import type { PriceRow } from '../domain/catalog/prices.ts';
import type { ModelRequest, Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { entryFor } from '../domain/deployments/priced-by.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Measured } from '../domain/inference/measured.ts';
import { type Usd, ZERO_USD } from '../domain/money.ts';
import { mostOutputTokens, wantedAnswers } from '../domain/inference/output-limit.ts';
import type { createPricer } from './price.ts';

/** What of a request its cost is estimated from. Its prompt is not read: only its size, and small members. */
export type SentRequest = Pick<ModelRequest, 'endpoint' | 'body' | 'bytes'>;

/** What a call is expected to cost. */
export interface ExpectedCost {
  /** Zero where no price is known, or nothing is paid. */
  readonly cost: Usd;
  /** Takes in what the call did cost, for the estimates of others like it. */
  learn(cost: Usd, usage: Usage | null): void;
}

/**
 * Estimates what calls cost before they are sent, in this order of certainty:
 * - A request that limits its output: the input, plus as many output tokens as it may have.
 * - Else the average cost of earlier calls of the same deployment, endpoint, number of answers and size of the request.
 * - Else the input by the size of the request, plus as many output tokens as the model may give, 1,024 at most.
 * Requests of images are estimated by the image, of speech by the character, of transcripts by the second of sound.
 */
export interface CostExpectations {
  /** `request` is null for one turn of a realtime session. */
  of(deployment: Deployment, request: SentRequest | null): ExpectedCost;
}

/** Bytes of a request that are one token of input. */
const BYTES_PER_TOKEN = 4;
/** Input tokens at most, where the catalog names no bound: a body may hold pictures, which are few tokens. */
const MOST_INPUT_TOKENS = 200_000;
/** Output tokens of a call that does not limit them, before there is an average. */
const USUAL_OUTPUT_TOKENS = 1_024;
/** Bytes of a second of sound: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
/** Tokens of a second of sound, heard and written down. */
const TOKENS_PER_SECOND = 10;
/** Kinds of calls with an average. Beyond that the least recently used one is evicted. */
const KINDS_LIMIT = 10_000;
/** A new cost is this part of the average. */
const WEIGHT = 8;

/** Averages over calls of one kind; the newest count most. */
interface Average {
  cost: Usd;
  inputTokens: number;
}

/** Bounds of the catalog on the tokens of one call. */
interface TokenBounds {
  readonly input: number;
  readonly output: number;
}

export function createCostExpectations(
  price: ReturnType<typeof createPricer>,
  catalog: () => CatalogSnapshot,
): CostExpectations {
  const averages = new Map<string, Average>();

  function learn(kind: string, cost: Usd, usage: Usage | null): void {
    const before = averages.get(kind);
    const inputTokens = usage?.inputTokens ?? before?.inputTokens ?? 0;
    averages.delete(kind);
    averages.set(
      kind,
      before === undefined
        ? { cost, inputTokens }
        : {
            cost: (before.cost + (cost - before.cost) / BigInt(WEIGHT)) as Usd,
            inputTokens: before.inputTokens + (inputTokens - before.inputTokens) / WEIGHT,
          },
    );
    if (averages.size <= KINDS_LIMIT) return;
    const [oldest] = averages.keys();
    if (oldest !== undefined) averages.delete(oldest);
  }

  /** What one turn of a session costs. */
  const turnCost = (deployment: Deployment): Usd | null =>
    price(deployment, { usage: tokens(USUAL_OUTPUT_TOKENS, USUAL_OUTPUT_TOKENS) });

  function callCost(
    deployment: Deployment,
    request: SentRequest,
    answers: number,
    average: Average | undefined,
  ): Usd | null {
    const { endpoint, body, bytes } = request;
    const limit = writes(endpoint) ? mostOutputTokens(body) : null;
    if (limit === null && average !== undefined) return average.cost;
    const bounds = boundsOf(deployment, catalog());
    const sized = Math.min(Math.ceil(bytes.length / BYTES_PER_TOKEN), bounds.input);
    const input = average?.inputTokens ?? sized;
    if (endpoint.medium !== undefined || endpoint.billedBy !== undefined || endpoint.operation === 'rerank')
      return unitCost(deployment, request, answers);
    if (!writes(endpoint)) return price(deployment, { usage: tokens(input, 0) });
    const output = Math.min(limit ?? USUAL_OUTPUT_TOKENS, bounds.output) * answers;
    return price(deployment, { usage: tokens(input, output) });
  }

  function unitCost(deployment: Deployment, { endpoint, body, bytes }: SentRequest, answers: number): Usd | null {
    const size = bytes.length;
    if (endpoint.medium === 'transcript') {
      const seconds = Math.ceil(size / BYTES_PER_SECOND);
      const usage = tokens(seconds * TOKENS_PER_SECOND, seconds * TOKENS_PER_SECOND);
      return price(deployment, { usage, measured: { unit: 'second', count: seconds } });
    }
    if (endpoint.medium === 'image') {
      const measured: Measured = {
        unit: 'image',
        count: answers,
        size: textOf(body['size']),
        quality: textOf(body['quality']),
      };
      return (
        price(deployment, { usage: null, measured }) ??
        price(deployment, { usage: tokens(USUAL_OUTPUT_TOKENS, USUAL_OUTPUT_TOKENS * answers) })
      );
    }
    const measured: Measured =
      endpoint.billedBy === 'character' ? { unit: 'character', count: size } : { unit: 'query', count: 1 };
    const output = endpoint.billedBy === 'character' ? USUAL_OUTPUT_TOKENS : 0;
    return price(deployment, { usage: tokens(Math.ceil(size / BYTES_PER_TOKEN), output), measured });
  }

  return {
    of(deployment, request) {
      const answers = request === null ? 1 : wantedAnswers(request.body);
      const kind = kindOf(deployment, request, answers);
      const average = averages.get(kind);
      const known =
        request === null ? (average?.cost ?? turnCost(deployment)) : callCost(deployment, request, answers, average);
      const cost = known ?? ZERO_USD;
      return { cost: cost > 0n ? cost : ZERO_USD, learn: (actual, usage) => learn(kind, actual, usage) };
    },
  };
}

/** Calls of one kind cost about the same. Size classes of requests are powers of four. */
function kindOf({ id, upstreamModel }: Deployment, request: SentRequest | null, answers: number): string {
  if (request === null) return `${id}\n${upstreamModel}\n/realtime`;
  const sizeClass = (32 - Math.clz32(request.bytes.length)) >> 1;
  return `${id}\n${upstreamModel}\n${request.endpoint.path}\n${sizeClass}\n${answers}`;
}

/** Whether answers of an endpoint are text the model writes: their tokens are not bounded by the request's size. */
const writes = ({ dialect, path }: Endpoint): boolean => dialect !== null || path === '/responses/compact';

function boundsOf(deployment: Deployment, catalog: CatalogSnapshot): TokenBounds {
  const row: PriceRow = entryFor(deployment, catalog)?.row ?? {};
  const said = (member: string, otherwise: number): number => {
    const value = deployment.priceOverrides[member] ?? row[member];
    return typeof value === 'number' && value > 0 ? value : otherwise;
  };
  return {
    input: said('max_input_tokens', MOST_INPUT_TOKENS),
    output: said('max_output_tokens', said('max_tokens', Infinity)),
  };
}

const tokens = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens: Math.ceil(inputTokens),
  outputTokens: Math.ceil(outputTokens),
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
