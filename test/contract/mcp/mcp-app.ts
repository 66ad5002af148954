import { expect } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: unknown];

export const FILE_ID = 'file-server';
const URL_OF_FILE = 'http://127.0.0.1:9/file';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
export const ID = expect.any(String) as string;

/** A server in an answer, with the values of a new one. */
export const serverWith = (overrides: Json): Json => ({
  server_id: ID,
  is_config: false,
  server_name: null,
  alias: null,
  description: null,
  url: null,
  spec_path: null,
  transport: 'sse',
  auth_type: null,
  credentials: null,
  instructions: null,
  created_at: TIME,
  created_by: 'default_user_id',
  updated_at: TIME,
  updated_by: 'default_user_id',
  teams: [],
  mcp_access_groups: [],
  allowed_tools: [],
  tool_name_to_display_name: {},
  tool_name_to_description: {},
  pinned_tools: null,
  extra_headers: [],
  mcp_info: { is_public: false, is_public_explicit: false },
  static_headers: {},
  env_vars: [],
  status: 'unknown',
  last_health_check: null,
  health_check_error: null,
  command: null,
  args: [],
  env: {},
  issuer: null,
  authorization_url: null,
  token_url: null,
  registration_url: null,
  oauth2_flow: null,
  token_exchange_endpoint: null,
  audience: null,
  subject_token_type: null,
  token_exchange_profile: null,
  allow_all_keys: false,
  available_on_public_internet: true,
  delegate_auth_to_upstream: false,
  oauth_passthrough: false,
  dcr_bridge: null,
  per_server_oauth_discovery: false,
  is_byok: false,
  byok_description: [],
  byok_api_key_help_url: null,
  has_user_credential: null,
  connected_app_reachable: null,
  source_url: null,
  timeout: null,
  max_concurrent_requests: null,
  rpm: null,
  approval_status: 'active',
  submitted_by: null,
  submitted_at: null,
  reviewed_at: null,
  review_notes: null,
  ...overrides,
});

/** The server of the configuration file in an answer. */
export const fileServer = (overrides: Json = {}): Json =>
  serverWith({
    server_id: FILE_ID,
    is_config: true,
    server_name: 'docs',
    alias: 'd',
    url: URL_OF_FILE,
    transport: 'http',
    auth_type: 'bearer_token',
    credentials: { auth_value: 'os.environ/DOCS_TOKEN' },
    mcp_access_groups: ['reading'],
    created_at: null,
    created_by: null,
    updated_at: null,
    updated_by: null,
    ...overrides,
  });

export const adminOnly = { detail: { error: 'Only proxy administrators may change MCP servers and toolsets.' } };
export const unknownServer = (id: string): Json => ({ detail: { error: `MCP server '${id}' not found.` } });
export const missing = (...loc: readonly string[]): Json => ({
  detail: [{ type: 'missing', loc: ['body', ...loc], msg: 'Field required' }],
});

/** An app with one server in its configuration file, and requests to it. */
export interface McpApp {
  readonly app: TestApp;
  /** Sends a request. `key` null sends no credential; the admin key when absent. */
  ask(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  newKey(settings?: Json): Promise<string>;
  /** Creates a server and returns its id. */
  create(server: Json): Promise<string>;
  stop(): Promise<void>;
}

export async function startMcpApp(general: Json = {}): Promise<McpApp> {
  const app = await startApp({
    config: {
      general_settings: general,
      litellm_settings: { mcp_aliases: { d: 'docs' } },
      mcp_servers: {
        docs: {
          server_id: FILE_ID,
          url: URL_OF_FILE,
          auth_type: 'bearer_token',
          auth_value: 'os.environ/DOCS_TOKEN',
          access_groups: ['reading'],
        },
      },
    },
    env: { DOCS_TOKEN: 'docs-token' },
  });
  async function ask(method: string, path: string, body?: unknown, key: string | null = app.adminKey): Promise<Answer> {
    const response = await fetch(`${app.url}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return [response.status, text === '' ? '' : (JSON.parse(text) as unknown)];
  }
  return {
    app,
    ask,
    async newKey(settings = {}) {
      const [, body] = await ask('POST', '/key/generate', settings);
      return (body as { readonly key: string }).key;
    },
    async create(server) {
      const [status, body] = await ask('POST', '/v1/mcp/server', server);
      if (status !== 201) throw new Error(`The server was not created: ${JSON.stringify(body)}`);
      return (body as { readonly server_id: string }).server_id;
    },
    stop: () => app.stop(),
  };
}
