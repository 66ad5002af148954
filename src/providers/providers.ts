import type { Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import { CHAT_COMPLETIONS } from '../domain/inference/endpoint.ts';
import { chatCompletionsOut } from '../wire/chat-completions/outbound.ts';
import { createDemo } from './demo/demo.ts';
import { createHttpProvider } from './http-provider.ts';
import { openAiCompatible } from './openai-compatible/openai-compatible.ts';
import { translating } from './translating.ts';

export { demoDeployment } from './demo/demo.ts';

/** OpenAI itself has retired the older name for the limit on an answer; those who copied it have not. */
const OPENAI = chatCompletionsOut({ maxTokensMember: 'max_completion_tokens' });
const COMPATIBLE = chatCompletionsOut({ maxTokensMember: 'max_tokens' });

/** Every protocol we can speak. A deployment names one by the prefix of its model. */
export function createProviders(http: HttpClient): readonly Provider[] {
  return [
    translating(createHttpProvider(http, openAiCompatible), ({ apiBase }) => ({
      endpoint: CHAT_COMPLETIONS,
      dialect: apiBase === null ? OPENAI : COMPATIBLE,
    })),
    translating(createDemo(), () => ({ endpoint: CHAT_COMPLETIONS, dialect: COMPATIBLE })),
  ];
}
