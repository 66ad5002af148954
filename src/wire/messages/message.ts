import type { AnswerContext } from '../dialect.ts';
import type { Fields } from '../json/fields.ts';
import { stopReasonOf } from './stop-reasons.ts';

/** The id of a message whose upstream gave none. */
export const messageIdOf = ({ fallbackId }: AnswerContext): string => `msg_${fallbackId.replaceAll('-', '')}`;

/** What a message counts before anything was: readers expect the numbers. */
export const NO_USAGE: Fields = { input_tokens: 0, output_tokens: 0 };

/** What the steps of an answer say of its end. */
export interface AnswerEnd {
  readonly finishReason: string | null;
  readonly stopSequence: string | null;
  /** The model said why it withholds its answer. */
  readonly refused: boolean;
}

/** The same as a message says it. */
export function stopFields({ finishReason, stopSequence, refused }: AnswerEnd): Fields {
  const reason = stopReasonOf(refused ? 'content_filter' : (finishReason ?? 'stop'));
  const bySequence = stopSequence !== null && reason === 'end_turn';
  return { stop_reason: bySequence ? 'stop_sequence' : reason, stop_sequence: stopSequence };
}
