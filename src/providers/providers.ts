import type { AwsAccounts } from '../domain/chat/aws-accounts.ts';
import type { CloudTokens } from '../domain/chat/cloud-tokens.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { Clock } from '../domain/clock.ts';
import { type Temperatures, UNCALIBRATED } from '../domain/decisions/calibration.ts';
import { COMPATIBLE_NAMES, COMPATIBLE_VENDORS } from '../domain/chat/vendors.ts';
import { Unsupported } from '../domain/errors.ts';
import type { HttpClient } from '../domain/http.ts';
import {
  CHAT_COMPLETIONS,
  COHERE_CHAT,
  COMPLETIONS,
  CONVERSE,
  GENERATE_CONTENT,
  MESSAGES,
  OLLAMA_CHAT,
  RESPONSES,
} from '../domain/inference/endpoint.ts';
import type { SocketClient } from '../domain/realtime/sockets.ts';
import { chatCompletionsOut } from '../wire/chat-completions/native.ts';
import { COHERE_OUT } from '../wire/cohere-chat/native.ts';
import { completionsOut } from '../wire/completions/native.ts';
import { CONVERSE_OUT } from '../wire/converse/native.ts';
import { GENERATE_CONTENT_OUT } from '../wire/generate-content/native.ts';
import { messagesOut } from '../wire/messages/native.ts';
import { RESPONSES_OUT } from '../wire/responses/native.ts';
import { anthropic, anthropicCount } from './anthropic/anthropic.ts';
import { OLLAMA_OUT } from '../wire/ollama-chat/native.ts';
import { azure, azureAi, azureRealtime } from './azure/azure.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { cohere } from './cohere/cohere.ts';
import { createDemo } from './demo/demo.ts';
import { gemini, geminiCount } from './gemini/gemini.ts';
import { isAnthropicModel, vertex } from './gemini/vertex.ts';
import { createNativeDeciders, withChatDecider, withDecisions } from './decisions/with-decisions.ts';
import { createHttpProvider } from './http-provider.ts';
import { ollama } from './ollama/ollama.ts';
import { compatibleProtocol, compatibleRealtime } from './openai-compatible/openai-compatible.ts';
import { differencesOf } from './openai-compatible/vendors.ts';
import { createOpenRealtime } from './realtime.ts';
import { type TranslationTarget, withTranslation } from './translating.ts';

export { demoDeployment } from './demo/demo.ts';

const OPENAI_CHAT_OUT = chatCompletionsOut({ maxTokensMember: 'max_completion_tokens' });
/** OpenAI deprecates `max_tokens`, but compatible vendors still use it. */
const COMPATIBLE_CHAT_OUT = chatCompletionsOut({ maxTokensMember: 'max_tokens' });
/** Maximum output tokens in the messages dialect, when neither caller nor deployment sets a limit. As in LiteLLM. */
const DEFAULT_MAX_TOKENS = 4096;

const isOpenAiAddress = (apiBase: string | null): boolean =>
  apiBase === null || apiBase.startsWith(new URL(COMPATIBLE_VENDORS.openai.base ?? '').origin);

const toCompatibleChat = (): TranslationTarget => ({ endpoint: CHAT_COMPLETIONS, dialect: COMPATIBLE_CHAT_OUT });
const toGenerateContent = (): TranslationTarget => ({ endpoint: GENERATE_CONTENT, dialect: GENERATE_CONTENT_OUT });
const toMessages = ({ options }: Deployment): TranslationTarget => ({
  endpoint: MESSAGES,
  dialect: messagesOut({ maxTokens: Number(options['max_tokens'] ?? DEFAULT_MAX_TOKENS) }),
});

const toCompletions = ({ options }: Deployment): TranslationTarget => ({
  endpoint: COMPLETIONS,
  dialect: completionsOut({ maxTokens: options['max_tokens'] === undefined ? null : Number(options['max_tokens']) }),
});

/** Clients and credential sources of the providers. */
interface ProviderTools {
  readonly http: HttpClient;
  readonly sockets: SocketClient;
  readonly googleTokens: CloudTokens;
  readonly awsAccounts: AwsAccounts;
  readonly clock: Clock;
  /** Calibration temperatures for the probabilities of decisions. Uncalibrated when absent. */
  readonly temperatures?: Temperatures;
}

/** Providers that have decision models only. */
const DECISION_ONLY_PROVIDERS = ['typesafe', 'strands_decider'] as const;

/** Provider that rejects all calls with Unsupported. `withDecisions` adds the decisions. */
const decisionOnlyProvider = (name: string): Provider => ({
  name,
  send: (_deployment, { endpoint }) =>
    Promise.reject(new Unsupported(`${endpoint.path}: The provider ${name} has decision models only.`)),
});

/** All providers. A deployment selects one by the prefix of its model. */
export function createProviders(tools: ProviderTools): readonly Provider[] {
  const nativeDeciderOf = createNativeDeciders(tools.http);
  const { temperatures = UNCALIBRATED } = tools;
  return [
    ...generalProviders(tools).map((one) =>
      withDecisions(one, withChatDecider(nativeDeciderOf, one, tools.clock), temperatures),
    ),
    ...DECISION_ONLY_PROVIDERS.map((name) => withDecisions(decisionOnlyProvider(name), nativeDeciderOf, temperatures)),
  ];
}

/** All providers except the decision-only ones. `createProviders` adds decisions to them. */
function generalProviders({ http, sockets, googleTokens, awsAccounts }: ProviderTools): readonly Provider[] {
  return [
    ...COMPATIBLE_NAMES.map((name): Provider => {
      const compatible = withTranslation(createHttpProvider(http, compatibleProtocol(name)), (deployment) => {
        if (deployment.responses === 'only') return { endpoint: RESPONSES, dialect: RESPONSES_OUT };
        if (differencesOf(name).chats === false) return toCompletions(deployment);
        const dialect =
          name === 'openai' && isOpenAiAddress(deployment.apiBase) ? OPENAI_CHAT_OUT : COMPATIBLE_CHAT_OUT;
        return { endpoint: CHAT_COMPLETIONS, dialect };
      });
      const realtime = compatibleRealtime(name);
      return realtime === null ? compatible : { ...compatible, openRealtime: createOpenRealtime(sockets, realtime) };
    }),
    withTranslation({ ...createHttpProvider(http, gemini), tokenCounter: geminiCount(http) }, toGenerateContent),
    withTranslation(createHttpProvider(http, vertex(googleTokens)), (deployment) =>
      isAnthropicModel(deployment) ? toMessages(deployment) : toGenerateContent(),
    ),
    withTranslation({ ...createHttpProvider(http, anthropic), tokenCounter: anthropicCount(http) }, toMessages),
    {
      ...withTranslation(createHttpProvider(http, azure), ({ responses }) =>
        responses === 'only'
          ? { endpoint: RESPONSES, dialect: RESPONSES_OUT }
          : { endpoint: CHAT_COMPLETIONS, dialect: OPENAI_CHAT_OUT },
      ),
      openRealtime: createOpenRealtime(sockets, azureRealtime),
    },
    withTranslation(createHttpProvider(http, azureAi), toCompatibleChat),
    ...(['bedrock', 'bedrock_converse'] as const).map((name) =>
      withTranslation(createHttpProvider(http, bedrock(name, awsAccounts)), () => ({
        endpoint: CONVERSE,
        dialect: CONVERSE_OUT,
      })),
    ),
    ...(['cohere', 'cohere_chat'] as const).map((name) =>
      withTranslation(createHttpProvider(http, cohere(name)), () => ({ endpoint: COHERE_CHAT, dialect: COHERE_OUT })),
    ),
    ...(['ollama', 'ollama_chat'] as const).map((name) =>
      withTranslation(createHttpProvider(http, ollama(name)), () => ({ endpoint: OLLAMA_CHAT, dialect: OLLAMA_OUT })),
    ),
    withTranslation(createDemo(), toCompatibleChat),
  ];
}
