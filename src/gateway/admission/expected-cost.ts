import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { PriceRow } from '../../domain/catalog/prices.ts';
import type { ModelRequest, Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { catalogEntryFor } from '../../domain/deployments/catalog-entry.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { Endpoint } from '../../domain/inference/endpoint.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import { maxOutputTokensOf, answerCount } from '../../domain/inference/output-limit.ts';
import type { Pricer } from '../accounting/price.ts';

/** Parts of a request for the estimate of its cost: its size and small fields. The prompt is not parsed. */
export type SentRequest = Pick<ModelRequest, 'endpoint' | 'body' | 'bytes' | 'labels'>;

/** Expected cost of a call. */
export interface ExpectedCost {
  /** Zero when no price is known, or the model is free. */
  readonly cost: Usd;
  /** Updates the average of similar calls with the actual cost. */
  learn(cost: Usd, usage: Usage | null): void;
}

/**
 * Estimates the cost of a call before it is sent. The first rule that applies is used:
 * - The request limits its output: input tokens plus the limit.
 * - Average cost of earlier calls with the same deployment, upstream model, endpoint, number of answers and size class.
 * - Input tokens by the size of the request, plus the model's output limit, at most 1,024 tokens.
 * Without an average, images are estimated per image, speech per character, transcripts per second of audio, reranks
 * per query. Documents are estimated per page: those that the request selects, else a number by its size.
 */
export interface CostExpectations {
  /** `request` is null for one turn of a realtime session. */
  of(deployment: Deployment, request: SentRequest | null): ExpectedCost;
}

/** Request bytes per input token. */
const BYTES_PER_TOKEN = 4;
/** Maximum input tokens where no limit is known. The body may contain images, which have more bytes per token. */
const MAX_INPUT_TOKENS = 200_000;
/** Assumed output tokens where neither a limit nor an average is known. */
const USUAL_OUTPUT_TOKENS = 1_024;
/** Bytes per second of audio: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
/** Bytes per page of a document: those of a page with text, encoded in Base64. */
const BYTES_PER_PAGE = 100_000;
/** Input tokens, and output tokens, per second of transcribed audio. */
const TOKENS_PER_SECOND = 10;
/** Maximum number of call kinds (see `kindOf`) with an average in memory. The oldest is evicted. */
const KINDS_LIMIT = 10_000;
/** Exponential moving average: a new value counts 1/WEIGHT. */
const WEIGHT = 8;

/** Moving averages of calls of one kind. */
interface Average {
  cost: Usd;
  inputTokens: number;
}

/** Token limits of one call, from the configuration, else from the catalog. */
interface TokenBounds {
  readonly input: number;
  readonly output: number;
}

export function createCostExpectations(price: Pricer, catalog: () => CatalogSnapshot): CostExpectations {
  const averages = new Map<string, Average>();
  /** Ids of deployments with at least one call of known cost. */
  const learned = new Set<string>();

  function learn({ deployment, request }: Estimate, cost: Usd, usage: Usage | null): void {
    const kind = kindOf(deployment, request);
    learned.add(deployment.id);
    const before = averages.get(kind);
    const inputTokens = usage?.inputTokens ?? before?.inputTokens ?? 0;
    if (before !== undefined) {
      before.cost = (before.cost + (cost - before.cost) / BigInt(WEIGHT)) as Usd;
      before.inputTokens += (inputTokens - before.inputTokens) / WEIGHT;
      return;
    }
    averages.set(kind, { cost, inputTokens });
    evictOldest(averages, KINDS_LIMIT);
  }

  /** Estimated cost of one turn of a realtime session. */
  const turnCost = (deployment: Deployment): Usd | null =>
    price(deployment, { usage: tokens(USUAL_OUTPUT_TOKENS, USUAL_OUTPUT_TOKENS) });

  /** Whether the cost of a call cannot be estimated: tokens have no price, and no earlier call has reported a cost. */
  const isUnknown = (deployment: Deployment, request: SentRequest | null): boolean =>
    isBilledByTokensAlone(request) && !learned.has(deployment.id) && !price.billsTokens(deployment);

  function callCost(deployment: Deployment, request: SentRequest, average: Average | undefined): Usd | null {
    const { endpoint, body, bytes } = request;
    const answers = answerCount(body);
    const limit = generatesText(endpoint) ? maxOutputTokensOf(body) : null;
    if (limit === null && average !== undefined) return average.cost;
    const bounds = boundsOf(deployment, catalog());
    const inputBySize = Math.min(Math.ceil(bytes.length / BYTES_PER_TOKEN), bounds.input);
    const input = average?.inputTokens ?? inputBySize;
    if (!isBilledByTokens(endpoint)) return unitCost(deployment, request, answers);
    if (!generatesText(endpoint)) return price(deployment, { usage: tokens(input, 0) });
    const output = Math.min(limit ?? USUAL_OUTPUT_TOKENS, bounds.output) * answers;
    return price(deployment, { usage: tokens(input, output) });
  }

  function unitCost(deployment: Deployment, { endpoint, body, bytes }: SentRequest, answers: number): Usd | null {
    const byteCount = bytes.length;
    if (endpoint.medium === 'transcript') {
      const seconds = Math.ceil(byteCount / BYTES_PER_SECOND);
      const usage = tokens(seconds * TOKENS_PER_SECOND, seconds * TOKENS_PER_SECOND);
      return price(deployment, { usage, measured: { unit: 'second', count: seconds } });
    }
    if (endpoint.medium === 'image') {
      const measured: BilledQuantity = {
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
    const input = Math.ceil(byteCount / BYTES_PER_TOKEN);
    if (endpoint.billedBy === 'page') {
      const { pages } = body;
      const count = Array.isArray(pages) && pages.length > 0 ? pages.length : Math.ceil(byteCount / BYTES_PER_PAGE);
      return price(deployment, { usage: tokens(input, USUAL_OUTPUT_TOKENS), measured: { unit: 'page', count } });
    }
    if (endpoint.billedBy === 'character') {
      const measured: BilledQuantity = { unit: 'character', count: byteCount };
      return price(deployment, { usage: tokens(input, USUAL_OUTPUT_TOKENS), measured });
    }
    return price(deployment, { usage: tokens(input, 0), measured: { unit: 'query', count: 1 } });
  }

  return {
    of(deployment, request) {
      if (isUnknown(deployment, request)) return new Estimate(ZERO_USD, deployment, request, learn);
      const average = averages.get(kindOf(deployment, request));
      const estimated =
        request === null ? (average?.cost ?? turnCost(deployment)) : callCost(deployment, request, average);
      const cost = estimated ?? ZERO_USD;
      return new Estimate(cost > 0n ? cost : ZERO_USD, deployment, request, learn);
    },
  };
}

class Estimate implements ExpectedCost {
  readonly cost: Usd;
  readonly deployment: Deployment;
  readonly request: SentRequest | null;
  readonly #learn: (estimate: Estimate, cost: Usd, usage: Usage | null) => void;

  constructor(
    cost: Usd,
    deployment: Deployment,
    request: SentRequest | null,
    learn: (estimate: Estimate, cost: Usd, usage: Usage | null) => void,
  ) {
    this.cost = cost;
    this.deployment = deployment;
    this.request = request;
    this.#learn = learn;
  }

  learn(cost: Usd, usage: Usage | null): void {
    this.#learn(this, cost, usage);
  }
}

/**
 * Key of a kind of calls with similar cost. The size class is half the bit length of the request size: each class spans
 * a factor of four.
 */
function kindOf({ id, provider, upstreamModel }: Deployment, request: SentRequest | null): string {
  if (request === null) return `${id}\n${provider}\n${upstreamModel}\n/realtime`;
  const sizeClass = (32 - Math.clz32(request.bytes.length)) >> 1;
  return `${id}\n${provider}\n${upstreamModel}\n${request.endpoint.path}\n${sizeClass}\n${answerCount(request.body)}`;
}

/** Whether calls of an endpoint are billed by tokens alone. */
const isBilledByTokens = ({ medium, billedBy, operation }: Endpoint): boolean =>
  medium === undefined && billedBy === undefined && operation !== 'rerank';

/** As `isBilledByTokens`, for a call. Null is one turn of a realtime session. */
export const isBilledByTokensAlone = (request: Pick<SentRequest, 'endpoint'> | null): boolean =>
  request === null || isBilledByTokens(request.endpoint);

/** Whether an endpoint generates text, so that the request size does not bound the output tokens. */
const generatesText = ({ dialect, path }: Endpoint): boolean => dialect !== null || path === '/responses/compact';

function boundsOf(deployment: Deployment, catalog: CatalogSnapshot): TokenBounds {
  const row = catalogEntryFor(deployment, catalog)?.row ?? NO_ROW;
  const own = deployment.priceOverrides;
  return {
    input: limitIn(own, row, 'max_input_tokens') ?? MAX_INPUT_TOKENS,
    output: limitIn(own, row, 'max_output_tokens') ?? limitIn(own, row, 'max_tokens') ?? Infinity,
  };
}

const NO_ROW: PriceRow = Object.freeze({});

/** A limit in the prices of the configuration, else in a row of the catalog; null for none. */
function limitIn(own: PriceRow, row: PriceRow, field: string): number | null {
  const value = own[field] ?? row[field];
  return typeof value === 'number' && value > 0 ? value : null;
}

const tokens = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens: Math.ceil(inputTokens),
  outputTokens: Math.ceil(outputTokens),
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
