import type { InboundDialect } from '../dialect.ts';
import { readMessagesRequest } from './read-request.ts';
import { wholeMessage } from './whole-answer.ts';
import { createEventWriter } from './write-answer.ts';

/** Dialect of callers that send Anthropic's messages. */
export const MESSAGES_IN: InboundDialect = {
  readRequest: readMessagesRequest,
  writer: createEventWriter,
  whole: wholeMessage,
};
