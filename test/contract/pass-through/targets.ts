import type { FaultServer } from '../../support/fault-server.ts';
import type { TestApp } from '../../support/start-app.ts';

/** Makes a target echo its requests. */
export function echoRequests(target: FaultServer): void {
  target.answer((response, _socket, { method, path, headers, body }) => {
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-target', 't');
    response.end(JSON.stringify({ method, path, headers, body }));
  });
}

/** Creates a key with these settings. */
export async function newKey(app: TestApp, settings: Record<string, unknown> = {}): Promise<string> {
  const response = await app.call('POST', '/key/generate', settings);
  return ((await response.json()) as { readonly key: string }).key;
}

/** Sends a request with a key. Null sends no credential. */
export const sendAs = (
  app: TestApp,
  key: string | null,
  request: {
    readonly method?: string;
    readonly path: string;
    readonly body?: BodyInit;
    readonly headers?: Record<string, string>;
  },
): Promise<Response> =>
  fetch(`${app.url}${request.path}`, {
    method: request.method ?? 'GET',
    redirect: 'manual',
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  });

/** Status and body of a response. */
export async function answerOf(response: Response): Promise<readonly [number, unknown]> {
  const text = await response.text();
  try {
    return [response.status, JSON.parse(text)];
  } catch {
    return [response.status, text];
  }
}
