import type { Exchange, Outcome } from '../../domain/chat/chat.ts';
import { plausibleUsage } from '../../domain/inference/plausible-usage.ts';

/** Outcome of a call without an answer. */
export const NO_OUTCOME: Outcome = {
  responseId: null,
  responseModel: null,
  finishReason: null,
  usage: null,
  failure: null,
  text: null,
};

/** Input and output tokens of an outcome; zero for an outcome without usage. */
export const usedTokens = ({ usage }: Pick<Outcome, 'usage'>): number =>
  usage === null ? 0 : usage.inputTokens + usage.outputTokens;

/** An outcome without a usage that is implausible. */
export function trustedOutcome(reported: Outcome): Outcome {
  const usage = plausibleUsage(reported.usage);
  return usage === reported.usage ? reported : { ...reported, usage };
}

/** Whether an answer is a stream of which a part has arrived. */
export const isPartOfStream = (answer: Pick<Exchange, 'streaming' | 'pieces'> | null): boolean =>
  answer !== null && answer.streaming && (answer.pieces?.() ?? 0) > 0;

/** Whether an outcome determines its cost, or the cost is recorded later. */
export const isBilled = ({ usage, measured, charged, billedLater }: Outcome): boolean =>
  usage !== null || measured !== undefined || charged !== undefined || billedLater === true;
