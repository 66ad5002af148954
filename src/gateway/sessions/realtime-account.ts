import type { AudioTokens, Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { plausibleCost } from '../../domain/inference/plausible-usage.ts';
import { addUsd, type Usd } from '../../domain/money.ts';
import type { RealtimeFact } from '../../domain/realtime/realtime.ts';
import type { CallTools } from '../calls/call.ts';

/** Usage and cost of a session so far. */
export interface RealtimeAccount {
  /** Adds a report of the upstream. Returns whether a cost was charged. */
  add(fact: RealtimeFact): boolean;
  outcome(): Outcome;
  /** Sum of the priced turns; null when none has a price. */
  cost(): Usd | null;
}

/**
 * Opens the account of a session. Each turn is priced and charged when it is reported: a session may last for hours.
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
  let transcriptionModel: string | null = null;
  let usage: Usage | null = null;
  let cost: Usd | null = null;

  /** Deployment whose prices apply. Transcription may be done by another model with its own price. */
  function pricedDeployment(by: 'session' | 'transcription'): Deployment {
    if (by === 'session' || transcriptionModel === null) return deployment;
    if (transcriptionModel === deployment.upstreamModel) return deployment;
    return {
      ...deployment,
      upstreamModel: transcriptionModel,
      modelGroup: transcriptionModel,
      baseModel: null,
      priceOverrides: {},
    };
  }

  return {
    add(fact) {
      if (fact.kind === 'session') {
        sessionId = fact.id ?? sessionId;
        model = fact.model ?? model;
        transcriptionModel = fact.transcriptionModel ?? transcriptionModel;
      }
      if (fact.kind !== 'used') return false;
      if (fact.usage !== null) usage = usage === null ? fact.usage : sumOf(usage, fact.usage);
      const turnCost = plausibleCost(
        price(pricedDeployment(fact.by), fact.usage === null ? fact : { usage: fact.usage }),
      );
      if (turnCost === null) return false;
      cost = plausibleCost(cost === null ? turnCost : addUsd(cost, turnCost));
      charge(turnCost);
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
    audio: sumOfKind(left.audio, right.audio),
    image: sumOfKind(left.image, right.image),
  };
}

const NO_TOKENS: AudioTokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 };

/** Sum of the tokens of one kind in two usages. */
const sumOfKind = (left = NO_TOKENS, right = NO_TOKENS): AudioTokens => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
});
