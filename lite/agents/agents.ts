import { type JsonObject } from '../../src/domain/json-object.ts';
import { numberOrNull, textOrNull } from '../values.ts';

/** A coding agent that calls models through the server. */
export interface Agent {
  readonly program: string;
  readonly name: string;
  /** Address of the installation guide. */
  readonly docs: string;
  /** Variables of the agent: those of this process, with address and key of the server. */
  environment(before: Environment, route: Route): Environment;
  /** Arguments before those of the user. */
  words(baseUrl: string): readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

interface Route {
  readonly baseUrl: string;
  readonly key: string;
  /** Models that the key may call; null where the key was not checked. */
  readonly models: readonly JsonObject[] | null;
}

const CLAUDE: Agent = {
  program: 'claude',
  name: 'Claude Code',
  docs: 'https://docs.claude.com/en/docs/claude-code/setup',
  environment: ({ ANTHROPIC_API_KEY: _replaced, ...before }, { baseUrl, key }) => ({
    // Claude Code turns tool search off for other addresses than that of Anthropic, unless this variable is set.
    ENABLE_TOOL_SEARCH: 'true',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    ...before,
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: key,
  }),
  words: () => [],
};

const openAiEnvironment = (before: Environment, { baseUrl, key }: Route): Environment => ({
  ...before,
  OPENAI_BASE_URL: `${baseUrl}/v1`,
  OPENAI_API_KEY: key,
});

/** Settings of the provider `litellm` of Codex. */
export const codexProvider = (baseUrl: string): Readonly<Record<string, string | boolean>> => ({
  name: 'LiteLLM proxy',
  base_url: `${baseUrl}/v1`,
  wire_api: 'responses',
  supports_websockets: false,
  requires_openai_auth: false,
});

const CODEX: Agent = {
  program: 'codex',
  name: 'Codex',
  docs: 'https://developers.openai.com/codex/cli',
  environment: openAiEnvironment,
  // Codex reads no address from its environment, so its provider is set by arguments.
  words(baseUrl) {
    const settings = {
      model_provider: 'litellm',
      ...Object.fromEntries(
        Object.entries(codexProvider(baseUrl)).map(([name, value]) => [`model_providers.litellm.${name}`, value]),
      ),
      'model_providers.litellm.env_key': 'OPENAI_API_KEY',
    };
    // JSON strings and booleans are valid TOML.
    return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]);
  },
};

const CHAT_MODES: ReadonlySet<unknown> = new Set(['chat', 'responses', null, undefined]);

/** A model in the configuration of OpenCode. Its limits are left out unless both are known. */
function openCodeModel(model: JsonObject) {
  const [context, output] = [numberOrNull(model['max_input_tokens']), numberOrNull(model['max_output_tokens'])];
  const limit = context === null || output === null ? {} : { limit: { context, output } };
  return { name: textOrNull(model['id']) ?? '', ...limit };
}

/** Configuration of OpenCode with the models of the server. OpenCode reads the key from `OPENAI_API_KEY`. */
function openCodeConfig(baseUrl: string, models: readonly JsonObject[]): string {
  const chat = models.filter(({ mode }) => CHAT_MODES.has(mode)).map(openCodeModel);
  return JSON.stringify({
    provider: {
      litellm: {
        npm: '@ai-sdk/openai-compatible',
        name: 'LiteLLM',
        options: { baseURL: `${baseUrl}/v1`, apiKey: '{env:OPENAI_API_KEY}' },
        models: Object.fromEntries(chat.map((model) => [model.name, model])),
      },
    },
  });
}

const OPENCODE: Agent = {
  program: 'opencode',
  name: 'OpenCode',
  docs: 'https://opencode.ai/docs',
  environment(before, route) {
    const shared = openAiEnvironment(before, route);
    return route.models === null || before['OPENCODE_CONFIG_CONTENT'] !== undefined
      ? shared
      : { ...shared, OPENCODE_CONFIG_CONTENT: openCodeConfig(route.baseUrl, route.models) };
  },
  words: () => [],
};

export const AGENTS: readonly Agent[] = [CLAUDE, CODEX, OPENCODE];
