import type { Outcome } from '../../domain/chat/chat.ts';

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
