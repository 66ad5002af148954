import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { type McpTestUpstream, startMcpUpstream } from '../../support/mcp-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;

/** An answer of an endpoint: its status, its JSON or the messages of its events, and headers. */
interface McpAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface McpGateway {
  readonly app: TestApp;
  readonly upstream: McpTestUpstream;
  /** A key that may use servers that are open to all keys. */
  readonly key: string;
  /** Sends a message with the admin key. Headers with the value null are not sent. */
  send(body: unknown, options?: SendOptions): Promise<McpAnswer>;
  stop(): Promise<void>;
}

interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly signal?: AbortSignal;
}

/** Value of `Accept` of clients. */
export const ACCEPT = 'application/json, text/event-stream';

/** A request of JSON-RPC. */
export const rpc = (method: string, params?: Json, id: number | string = 1): Json => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
});

export const INITIALIZE = rpc('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1.2' },
});

/** Messages of an event stream. */
const messagesIn = (text: string): readonly unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);

/** Starts a gateway with servers of each kind of admission. All have the same upstream. */
export async function startMcpGateway(config: Json = {}): Promise<McpGateway> {
  const upstream = await startMcpUpstream();
  const server = (members: Json): Json => ({ url: upstream.url, transport: 'http', ...members });
  const app = await startApp({
    config: {
      general_settings: {
        demo_model: false,
        pass_through_endpoints: [{ path: '/forwarded/mcp', target: upstream.url, auth: true }],
      },
      mcp_servers: {
        notes: server({ allow_all_keys: true, instructions: 'Read before you write.' }),
        closed: server({}),
        delegated: server({ allow_all_keys: true, auth_type: 'oauth_delegate' }),
        managed: server({ allow_all_keys: true, auth_type: 'oauth2', oauth2_flow: 'authorization_code' }),
        passed: server({ allow_all_keys: true, auth_type: 'true_passthrough' }),
      },
      ...config,
    },
  });
  const created = await app.call('POST', '/key/generate', { key_alias: 'agent', user_id: 'anna' });
  const { key } = (await created.json()) as { readonly key: string };
  return {
    app,
    upstream,
    key,
    async send(body, { method = 'POST', path = '/mcp', headers = {}, signal } = {}) {
      const sent = { accept: ACCEPT, 'content-type': 'application/json', authorization: `Bearer ${app.adminKey}` };
      const kept = Object.entries({ ...sent, ...headers }).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      const answer = await fetch(`${app.url}${path}`, {
        method,
        headers: Object.fromEntries(kept),
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await answer.text();
      const isStream = answer.headers.get('content-type') === 'text/event-stream';
      const read = isStream ? messagesIn : (json: string): unknown => (json === '' ? null : JSON.parse(json));
      return { status: answer.status, body: read(text), headers: answer.headers };
    },
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

/** A well-formed key that does not exist. */
export const wrongKey = (): string => keyGenerator.make();
