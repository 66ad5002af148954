import type { ChatDelta } from '../domain/chat/chat.ts';
import { deltasOfAnswer } from '../wire/chat-completions/answer.ts';
import { parseJson } from '../wire/json/fields.ts';

/** The deltas of a whole chat completion. */
export const deltasOfChatCompletion = (bytes: Uint8Array): readonly ChatDelta[] => deltasOfAnswer(parseJson(bytes));
