import type { OutboundDialect } from '../dialect.ts';
import { createEventReader, stepsOfMessage } from './answer.ts';
import { type MessagesForm, writeMessagesRequest } from './write-request.ts';

/** Dialect of messages upstreams, for callers of other dialects. */
export function messagesOut(form: MessagesForm): OutboundDialect {
  return {
    writeRequest: (chat, losses) => writeMessagesRequest(chat, losses, form),
    reader: createEventReader,
    stepsOf: stepsOfMessage,
  };
}
