import type { Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import { CHAT_COMPLETIONS, GENERATE_CONTENT } from '../domain/inference/endpoint.ts';
import { chatCompletionsOut } from '../wire/chat-completions/outbound.ts';
import { GENERATE_CONTENT_OUT } from '../wire/generate-content/native.ts';
import { createDemo } from './demo/demo.ts';
import { gemini } from './gemini/gemini.ts';
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
    translating(createHttpProvider(http, gemini), () => ({
      endpoint: GENERATE_CONTENT,
      dialect: GENERATE_CONTENT_OUT,
    })),
    translating(createDemo(), () => ({ endpoint: CHAT_COMPLETIONS, dialect: COMPATIBLE })),
  ];
}
