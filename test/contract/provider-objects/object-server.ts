import { startApp, type TestApp } from '../../support/start-app.ts';
import { type ObjectUpstream, startObjectUpstream } from '../../support/object-upstream.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Answer = readonly [status: number, body: Json];

/** A server whose models are at an upstream with objects, and keys of two owners. */
export interface ObjectServer {
  readonly app: TestApp;
  readonly upstream: ObjectUpstream;
  readonly owner: string;
  readonly stranger: string;
  /** Key of a user that may only read. */
  readonly viewer: string;
  ask(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  newKey(settings?: Json): Promise<string>;
  /** Uploads a file for the owner of a key. Returns its id. */
  newFile(key?: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startObjectServer(): Promise<ObjectServer> {
  const upstream = await startObjectUpstream();
  const model = (name: string, upstreamModel: string, apiKey: string, more: Json = {}) => ({
    model_name: name,
    litellm_params: { model: upstreamModel, api_base: `${upstream.url}/v1`, api_key: apiKey, ...more },
  });
  const app = await startApp({
    config: {
      model_list: [
        model('claude', 'anthropic/claude-x', 'sk-object-account'),
        model('fast', 'groq/llama', 'sk-object-account'),
        model('tiny', 'openai/tiny-1', 'sk-object-account', {
          input_cost_per_token: 0.001,
          output_cost_per_token: 0.01,
        }),
        model('judge', 'openai/judge-1', 'sk-object-account', {
          input_cost_per_token: 0.002,
          output_cost_per_token: 0,
        }),
        model('elsewhere', 'openai/tiny-1', 'sk-other-account'),
        model('both', 'openai/tiny-1', 'sk-object-account'),
        model('both', 'openai/tiny-1', 'sk-other-account'),
      ],
    },
  });
  let owner = '';
  async function ask(method: string, path: string, body?: unknown, key: string | null = owner): Promise<Answer> {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    return [answer.status, (await answer.json()) as Json];
  }
  const newKey = async (settings: Json = {}): Promise<string> =>
    String((await ask('POST', '/key/generate', settings, app.adminKey))[1]['key']);
  async function newFile(key = owner): Promise<string> {
    const form = new FormData();
    form.append('purpose', 'fine-tune');
    form.append('model', 'tiny');
    form.append('file', new Blob(['{}\n']), 'a.jsonl');
    return String((await ask('POST', '/v1/files', form, key))[1]['id']);
  }
  owner = await newKey();
  const stranger = await newKey();
  const [, created] = await ask('POST', '/user/new', { user_id: 'v', user_role: 'internal_user_viewer' }, app.adminKey);
  return {
    app,
    upstream,
    owner,
    stranger,
    viewer: String(created['key']),
    ask,
    newKey,
    newFile,
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}
