import type { OutboundDialect } from '../dialect.ts';
import { createEventReader, stepsOfMessage } from './answer.ts';
import { type MessagesForm, writeMessagesRequest } from './write-request.ts';

/** Upstreams that speak Anthropic's messages, for callers who do not. */
export function messagesOut(form: MessagesForm): OutboundDialect {
  return {
    writeRequest: (chat, losses) => writeMessagesRequest(chat, losses, form),
    reader: createEventReader,
    stepsOf: stepsOfMessage,
  };
}
