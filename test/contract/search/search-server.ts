import { type SearchUpstream, startSearchUpstream } from '../../support/search-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: unknown];

/** App with a search tool of each provider. The providers are `SearchUpstream`. */
export interface SearchServer {
  readonly app: TestApp;
  readonly upstream: SearchUpstream;
  /** Status and body of a request. The default key is the key of the administrator. Null sends no key. */
  ask(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  newKey(settings?: Json): Promise<string>;
  stop(): Promise<void>;
}

export const TOOL_KEY = 'search-account-0123456789';

/** Body of an answer to a request without a key. */
export const NO_KEY = {
  error: {
    message:
      'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
    type: 'auth_error',
    param: 'None',
    code: '401',
  },
};

export async function startSearchServer(): Promise<SearchServer> {
  const upstream = await startSearchUpstream();
  const tool = (name: string, provider: string, more: Json = {}, path = provider) => ({
    search_tool_name: name,
    litellm_params: {
      search_provider: provider,
      api_base: `${upstream.url}/${path}`,
      api_key: 'os.environ/SEARCH_ACCOUNT',
      ...more,
    },
  });
  const app = await startApp({
    env: { SEARCH_ACCOUNT: TOOL_KEY, TAVILY_API_KEY: 'environment-key', TAVILY_API_BASE: `${upstream.url}/tavily` },
    config: {
      litellm_settings: { cost_discount_config: { serper: 0.5 } },
      search_tools: [
        { ...tool('pplx', 'perplexity'), search_tool_info: { description: 'The web' } },
        ...['tavily', 'exa_ai', 'brave', 'serper', 'searxng'].map((name) => tool(name, name)),
        tool('priced', 'brave', { input_cost_per_query: 0.0025 }),
        tool('hasty', 'perplexity', { timeout: 0.2 }),
        // The first tool of this name fails.
        tool('shared', 'perplexity', {}, 'perplexity/broken'),
        tool('shared', 'tavily'),
        tool('foreign', 'you_com'),
        { search_tool_name: 'of the environment', litellm_params: { search_provider: 'tavily' } },
        { search_tool_name: 'without key', litellm_params: { search_provider: 'exa_ai' } },
      ],
      guardrails: [
        {
          guardrail_name: 'words',
          litellm_params: {
            guardrail: 'litellm_content_filter',
            mode: 'pre_call',
            blocked_words: [{ keyword: 'forbidden', action: 'BLOCK' }],
            patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
          },
        },
      ],
    },
  });

  async function ask(method: string, path: string, body?: unknown, key: string | null = app.adminKey): Promise<Answer> {
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return [answer.status, text === '' ? '' : (JSON.parse(text) as unknown)];
  }

  return {
    app,
    upstream,
    ask,
    async newKey(settings = {}) {
      const [, body] = await ask('POST', '/key/generate', settings);
      return String((body as Json)['key']);
    },
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}
