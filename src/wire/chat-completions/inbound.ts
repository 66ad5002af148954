import type { InboundDialect } from '../dialect.ts';
import { readChat } from './read-request.ts';
import { wholeChatCompletion } from './whole-answer.ts';
import { createChunkWriter } from './write-answer.ts';

/** Dialect of callers that send chat completions. */
export const CHAT_COMPLETIONS_IN: InboundDialect = {
  readRequest: readChat,
  writer: createChunkWriter,
  whole: wholeChatCompletion,
};
