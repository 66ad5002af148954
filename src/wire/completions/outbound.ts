import { chatCompletionsOut } from '../chat-completions/outbound.ts';
import type { OutboundDialect } from '../dialect.ts';
import { type CompletionForm, writeCompletion } from './write-request.ts';

/** Upstreams that only go on with a text, for callers who chat. Their answers differ from those of chats in a member that both readers know. */
export const completionsOut = (form: CompletionForm): OutboundDialect => ({
  ...chatCompletionsOut({ maxTokensMember: 'max_tokens' }),
  writeRequest: (chat, losses) => writeCompletion(chat, losses, form),
});
