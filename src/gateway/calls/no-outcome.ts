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
