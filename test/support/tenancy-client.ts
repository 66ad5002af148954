import { afterAll, beforeAll } from 'vitest';
import { startApp, type TestApp } from './start-app.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Response with its parsed body. */
export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** Starts the app for the tests of a file, and sends JSON to it. */
export function tenancyClient(options: Parameters<typeof startApp>[0] = {}) {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(options);
  });
  afterAll(() => app.stop());

  async function send(method: string, path: string, body?: unknown, key = app.adminKey): Promise<Answer> {
    const answer = await app.call(method, path, body, { authorization: key === '' ? '' : `Bearer ${key}` });
    return { status: answer.status, body: (await answer.json()) as Json };
  }

  return {
    app: (): TestApp => app,
    send,
    get: (path: string, key?: string) => send('GET', path, undefined, key),
    post: (path: string, body: unknown, key?: string) => send('POST', path, body, key),
    /** Creates a user. Returns its key. */
    async user(draft: object): Promise<string> {
      return String((await send('POST', '/user/new', draft)).body['key']);
    },
    /** Creates a key. Returns it. */
    async key(draft: object): Promise<string> {
      return String((await send('POST', '/key/generate', draft)).body['key']);
    },
  };
}

/** Status and error envelope of a failure. */
export const envelope = (
  status: number,
  message: string,
  type = 'internal_server_error',
  param: string | null = null,
) => ({
  status,
  body: { error: { message, type, param, code: String(status) } },
});

/** Response to a request without a key. */
export const NO_KEY = envelope(
  401,
  'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
  'auth_error',
  'None',
);

/** Failure in the form `{"detail":{"error":…}}`. */
export const detail = (status: number, error: string) => ({ status, body: { detail: { error } } });

/** Body of a chat call. */
export const chat = (model = 'demo') => ({ model, messages: [{ role: 'user', content: 'hi' }] });
