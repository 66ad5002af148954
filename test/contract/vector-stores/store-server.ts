import { type TestApp, startApp } from '../../support/start-app.ts';
import { STORE_KEY, startVectorStoreUpstream, type VectorStoreUpstream } from '../../support/vector-store-upstream.ts';

export type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: unknown];

/** A server whose default account of OpenAI is at an upstream in memory. */
export interface StoreServer {
  readonly app: TestApp;
  readonly upstream: VectorStoreUpstream;
  /** Sends a request. Without a key, that of the administrator is sent; null sends none. */
  ask(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  newKey(settings?: Json): Promise<string>;
  newTeam(id: string): Promise<string>;
  /** Creates a store at the upstream through the gateway. Returns its id. */
  newStore(key?: string): Promise<string>;
  /** Stores a file at the upstream, and adds it to a store where one is named. Returns its id. */
  newFile(text: string, storeId?: string): Promise<string>;
  addFile(storeId: string, fileId: string): Promise<void>;
  stop(): Promise<void>;
}

export const FILE_STORE = 'vs_file';

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

/** Starts the server. Its configuration file has the store `vs_file`. */
export async function startStoreServer(): Promise<StoreServer> {
  const upstream = await startVectorStoreUpstream();
  const api = { api_base: `${upstream.url}/v1`, api_key: STORE_KEY };
  const app = await startApp({
    env: { OPENAI_API_KEY: STORE_KEY, OPENAI_API_BASE: upstream.url, STORE_ACCOUNT: STORE_KEY },
    config: {
      model_list: [
        { model_name: 'assistant', litellm_params: { model: 'openai/up-1', ...api } },
        { model_name: 'ranker', litellm_params: { model: 'cohere/rerank-1', ...api } },
      ],
      vector_store_registry: [
        {
          vector_store_name: 'of the file',
          litellm_params: {
            vector_store_id: FILE_STORE,
            custom_llm_provider: 'openai',
            vector_store_description: 'd',
            vector_store_metadata: { a: 1 },
            api_base: `${upstream.url}/v1`,
            api_key: 'os.environ/STORE_ACCOUNT',
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

  async function addFile(storeId: string, fileId: string): Promise<void> {
    await ask('POST', `/v1/vector_stores/${storeId}/files`, { file_id: fileId });
  }

  return {
    app,
    upstream,
    ask,
    addFile,
    async newFile(text, storeId) {
      const form = new FormData();
      form.append('purpose', 'assistants');
      form.append('file', new Blob([text]), 'a.txt');
      const headers = { authorization: `Bearer ${STORE_KEY}` };
      const stored = await fetch(`${upstream.url}/v1/files`, { method: 'POST', headers, body: form });
      const { id } = (await stored.json()) as { readonly id: string };
      if (storeId !== undefined) await addFile(storeId, id);
      return id;
    },
    async newKey(settings = {}) {
      const [, body] = await ask('POST', '/key/generate', settings);
      return String((body as Json)['key']);
    },
    async newTeam(id) {
      await ask('POST', '/team/new', { team_id: id, team_alias: id });
      return id;
    },
    async newStore(key = app.adminKey) {
      const [, body] = await ask('POST', '/v1/vector_stores', { name: 'n' }, key);
      return String((body as Json)['id']);
    },
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}
