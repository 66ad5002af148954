import type { AudioTokens, Outcome, Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { addUsd, type Usd } from '../domain/money.ts';
import type { RealtimeNews } from '../domain/realtime/realtime.ts';
import type { CallTools } from './call.ts';

/** What a session has used so far, and what that costs. */
export interface RealtimeAccount {
  /** Takes in what the upstream told. True when it cost something. */
  take(news: RealtimeNews): boolean;
  outcome(): Outcome;
  /** The sum of what has a price; null when nothing has. */
  cost(): Usd | null;
}

/**
 * Counts a session. Every answer is priced by itself, as a call is, and charged at once: a session may last for hours,
 * and its key's allowance with it.
 */
export function openAccount(
  { price }: Pick<CallTools, 'price'>,
  {
    deployment,
    charge,
  }: {
    readonly deployment: Deployment;
    /** Charges one turn. */
    readonly charge: (cost: Usd) => void;
  },
): RealtimeAccount {
  let sessionId: string | null = null;
  let model: string | null = null;
  let writer: string | null = null;
  let usage: Usage | null = null;
  let cost: Usd | null = null;

  /** Who is paid: what writes down what is said is a model of its own, and has its own price. */
  const paid = (by: 'session' | 'transcription'): Deployment =>
    by === 'session' || writer === null || writer === deployment.upstreamModel
      ? deployment
      : { ...deployment, upstreamModel: writer, modelGroup: writer, baseModel: null, priceOverrides: {} };

  return {
    take(news) {
      if (news.kind === 'session') {
        sessionId = news.id ?? sessionId;
        model = news.model ?? model;
        writer = news.transcriptionModel ?? writer;
      }
      if (news.kind !== 'used') return false;
      if (news.usage !== null) usage = usage === null ? news.usage : sumOf(usage, news.usage);
      const priced = price(paid(news.by), news.usage === null ? news : { usage: news.usage });
      if (priced === null) return false;
      cost = cost === null ? priced : addUsd(cost, priced);
      charge(priced);
      return true;
    },
    outcome: () => ({
      responseId: sessionId,
      responseModel: model,
      finishReason: null,
      usage,
      failure: null,
      text: null,
    }),
    cost: () => cost,
  };
}

function sumOf(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
    audio: partsOf(left.audio, right.audio),
    image: partsOf(left.image, right.image),
  };
}

const NOTHING: AudioTokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 };

/** Tokens of one kind within two usages. */
const partsOf = (left = NOTHING, right = NOTHING): AudioTokens => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
});
