import type { AnswerContext } from '../dialect.ts';
import type { Fields } from '../json/fields.ts';
import { stopReasonOf } from './stop-reasons.ts';

/** Id of a message without an upstream id. */
export const messageIdOf = ({ fallbackId }: AnswerContext): string => `msg_${fallbackId.replaceAll('-', '')}`;

/** `usage` of a message before anything is counted. Clients require the numbers. */
export const NO_USAGE: Fields = { input_tokens: 0, output_tokens: 0 };

/** End of an answer, from its steps. */
export interface AnswerEnd {
  readonly finishReason: string | null;
  readonly stopSequence: string | null;
  /** The model refused to answer. */
  readonly hasRefusal: boolean;
}

/** Stop members of a message. */
export function stopFields({ finishReason, stopSequence, hasRefusal }: AnswerEnd): Fields {
  const reason = stopReasonOf(hasRefusal ? 'content_filter' : (finishReason ?? 'stop'));
  const isStopSequence = stopSequence !== null && reason === 'end_turn';
  return { stop_reason: isStopSequence ? 'stop_sequence' : reason, stop_sequence: stopSequence };
}
