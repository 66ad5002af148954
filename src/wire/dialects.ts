import type { Dialect } from '../domain/inference/endpoint.ts';
import { CHAT_COMPLETIONS_IN } from './chat-completions/native.ts';
import { COMPLETIONS_IN } from './completions/native.ts';
import type { InboundDialect } from './dialect.ts';
import { GENERATE_CONTENT_IN } from './generate-content/native.ts';
import { MESSAGES_IN } from './messages/native.ts';
import { RESPONSES_IN } from './responses/native.ts';

/** Caller dialects that can be translated to the dialect of an upstream. */
export const INBOUND: Readonly<Partial<Record<Dialect, InboundDialect>>> = {
  'chat-completions': CHAT_COMPLETIONS_IN,
  completions: COMPLETIONS_IN,
  'generate-content': GENERATE_CONTENT_IN,
  messages: MESSAGES_IN,
  responses: RESPONSES_IN,
};
