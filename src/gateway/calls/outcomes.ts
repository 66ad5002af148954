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

/** Tokens of an outcome; zero where none were reported. */
export const usedTokens = ({ usage }: Pick<Outcome, 'usage'>): number =>
  usage === null ? 0 : usage.inputTokens + usage.outputTokens;
