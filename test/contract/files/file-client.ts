import type { FaultServer } from '../../support/fault-server.ts';
import type { TestApp } from '../../support/start-app.ts';

export const CREDENTIAL = 'sk-upstream-credential-0123456789';

/** Configuration with three accounts at one upstream: of `apart`, of `hosted` (another provider) and of all others. */
export const configOver = (upstream: FaultServer, general: Record<string, unknown> = {}) => {
  const params = { api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  return {
    general_settings: general,
    model_list: [
      { model_name: 'assistant', litellm_params: { model: 'openai/up-1', ...params } },
      { model_name: 'second', litellm_params: { model: 'openai/up-2', ...params } },
      { model_name: 'apart', litellm_params: { model: 'openai/up-3', ...params, api_key: `${CREDENTIAL}-apart` } },
      { model_name: 'team/*', litellm_params: { model: 'openai/*', ...params } },
      { model_name: 'hosted', litellm_params: { model: 'groq/up-4', ...params, api_key: `${CREDENTIAL}-groq` } },
    ],
  };
};

/** Account of the last request to the upstream: its credential, with `CREDENTIAL` replaced by `account`. */
export const accountOf = (upstream: FaultServer): string | undefined =>
  upstream.received.at(-1)?.headers.authorization?.replace(`Bearer ${CREDENTIAL}`, 'account');

const FILE = { object: 'file', bytes: 5, created_at: 1, filename: 'a.txt', status: 'processed' };
const BATCH = { object: 'batch', endpoint: '/v1/chat/completions', completion_window: '24h', created_at: 2 };

/**
 * Makes the upstream answer requests about files and batches. `batch` has members of each batch in its answers, and
 * `content` is the content of each file; null answers 500 in its place.
 */
export function serveFiles(
  upstream: FaultServer,
  batch: Record<string, unknown> = { status: 'validating' },
  content: string | null = '{"a":1}\n',
): void {
  upstream.answer((response, _socket, { method, path, body }) => {
    const [, , kind, id = `up-${upstream.received.length}`, action] = path.split('/');
    response.setHeader('content-type', 'application/json');
    if (action === 'content' && content === null) return response.writeHead(500).end('{}');
    if (action === 'content') {
      response.setHeader('content-type', 'application/jsonl');
      return response.end(content);
    }
    if (kind === 'batches') {
      const { input_file_id = 'up-lines', metadata } = (body === '' ? {} : JSON.parse(body)) as Record<string, unknown>;
      return response.end(JSON.stringify({ id, ...BATCH, input_file_id, ...batch, metadata }));
    }
    if (method === 'DELETE') return response.end(JSON.stringify({ id, object: 'file', deleted: true }));
    const purpose = /name="purpose"\r\n\r\n(.*)\r\n/.exec(body)?.[1] ?? 'user_data';
    return response.end(JSON.stringify({ id, ...FILE, purpose }));
  });
}

/** Multipart form of an upload. */
export function formOf(fields: Record<string, string>, content: string | Buffer | null = 'hello'): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (content !== null) form.append('file', new Blob([content as BlobPart]), 'a.txt');
  return form;
}

/** Sends a request with a key. */
export async function send(
  app: TestApp,
  method: string,
  path: string,
  options: {
    readonly key?: string;
    readonly body?: FormData | URLSearchParams | string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const { key = app.adminKey, body, headers } = options;
  return await fetch(`${app.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** Status and body of a response. */
export const answerOf = async (response: Response): Promise<readonly [number, unknown]> => [
  response.status,
  await response.json(),
];

/** Status and body of an error of the gateway. */
export const refusal = (
  status: number,
  message: unknown,
  {
    type = 'invalid_request_error',
    param = null,
    inProviderFields = false,
  }: {
    type?: string | null;
    param?: string | null;
    /** Whether the message is also in `provider_specific_fields`. */
    inProviderFields?: boolean;
  } = {},
): readonly [number, unknown] => [
  status,
  {
    error: {
      message,
      type,
      param,
      code: String(status),
      ...(inProviderFields ? { provider_specific_fields: { error: message } } : {}),
    },
  },
];

export async function newKey(app: TestApp, draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

export async function upload(
  app: TestApp,
  fields: Record<string, string> = { purpose: 'user_data' },
  options: { readonly key?: string; readonly content?: string } = {},
): Promise<{ readonly id: string; readonly [member: string]: unknown }> {
  const { content = 'hello', ...sendOptions } = options;
  const response = await send(app, 'POST', '/v1/files', { ...sendOptions, body: formOf(fields, content) });
  const file = (await response.json()) as { id: string };
  if (response.status !== 200) throw new Error(JSON.stringify(file));
  return file;
}

/** Line of a batch input file. `members` are further members of its body. */
export const lineFor = (model: unknown, members: object = {}): string =>
  JSON.stringify({
    custom_id: '1',
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [], ...members },
  });
