import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Headers = Record<string, string>;
export type Json = Readonly<Record<string, unknown>>;
type StoredBody = Json & { readonly id: string };

interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** App with two models at one upstream: `chats` over chat completions, `thinker` over the Responses API. */
export interface ResponseClient {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  /** Default credential of requests. */
  readonly key: Headers;
  newKey(draft?: object): Promise<Headers>;
  /** Sets the message of the next chat completions. */
  answerWith(message: object): void;
  ask(body: object, headers?: Headers): Promise<Answer>;
  /** Sends a request to `chats`, which answers with this text. Returns the response, whose status must be 200. */
  chatAnswer(content: string, body: object, headers?: Headers): Promise<StoredBody>;
  call(method: string, path: string, headers?: Headers): Promise<Answer>;
  /** Messages of the last request to the upstream. */
  sentMessages(): unknown;
  stop(): Promise<void>;
}

export async function startResponses(): Promise<ResponseClient> {
  const upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  const app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'chats',
          litellm_params: { model: 'openai/up-1', ...params, use_chat_completions_api: true },
        },
        {
          model_name: 'thinker',
          litellm_params: { model: 'openai/up-2', ...params, use_chat_completions_api: false },
        },
      ],
    },
  });
  async function newKey(draft: object = {}): Promise<Headers> {
    const response = await app.call('POST', '/key/generate', draft);
    return { authorization: `Bearer ${((await response.json()) as { key: string }).key}` };
  }
  const key = await newKey();
  const answerWith = (message: object): void =>
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'chat', choices: [{ message, finish_reason: 'stop' }] }));
    });
  async function ask(body: object, headers = key): Promise<Answer> {
    const response = await app.call('POST', '/v1/responses', body, headers);
    return { status: response.status, body: (await response.json()) as Json };
  }
  return {
    app,
    upstream,
    key,
    newKey,
    answerWith,
    ask,
    async chatAnswer(content, request, headers) {
      answerWith({ role: 'assistant', content });
      const { status, body } = await ask({ model: 'chats', ...request }, headers);
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return { ...body, id: String(body['id']) };
    },
    async call(method, path, headers = key) {
      const response = await app.call(method, path, undefined, headers);
      return { status: response.status, body: (await response.json()) as Json };
    },
    sentMessages: () => (JSON.parse(upstream.received.at(-1)?.body ?? '') as Json)['messages'],
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

/** Status and body of an error in OpenAI's envelope. */
export const refusal = (status: number, error: object): object => ({
  status,
  body: { error: { param: null, code: String(status), ...error } },
});

/** Error for a previous response that the caller may not continue. */
export const noPrevious = (id: string): object =>
  refusal(400, {
    message: `Previous response with id '${id}' not found.`,
    type: 'invalid_request_error',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  });

/** Error about an invalid parameter. */
export const invalid = (param: string, message: string): object =>
  refusal(400, { message, type: 'invalid_request_error', param });

/**
 * Part of a response id that the ids of its items contain. Such an item id ends with the index of an output item, or
 * with `i` and the index of an input item.
 */
export const hexOf = (id: string): string => id.replace('resp_', '');
