import { chatCompletionsOut } from '../chat-completions/outbound.ts';
import type { OutboundDialect } from '../dialect.ts';
import { type CompletionForm, writeCompletion } from './write-request.ts';

/** Dialect of text-completion upstreams, for chat callers. The chat-completions reader also reads their answers. */
export const completionsOut = (form: CompletionForm): OutboundDialect => ({
  ...chatCompletionsOut({ maxTokensMember: 'max_tokens' }),
  writeRequest: (chat, losses) => writeCompletion(chat, losses, form),
});
