import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../../src/runtime/telemetry/log.ts';

/** Response handler of the upstream. */
export type Answer = (response: ServerResponse, headers: IncomingHttpHeaders, request: IncomingMessage) => void;
export type Rows = Record<string, Record<string, unknown>>;

/** Fake upstream of the price map. */
export interface Upstream {
  readonly url: string;
  /** Headers of all requests, in order of arrival. */
  readonly requests: readonly IncomingHttpHeaders[];
  setAnswer(answer: Answer): void;
  close(): void;
}

export async function startPriceMapUpstream(first: Answer): Promise<Upstream> {
  let answer = first;
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    answer(response, request.headers, request);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/map.json`,
    requests,
    setAnswer(next) {
      answer = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Price map with this number of models. Maps of different versions differ. */
export const mapOf = (count: number, version = 1): Rows =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`m${index}`, { litellm_provider: 'p', mode: 'chat', version }]),
  );

/** Handler that sends a map like the host of the real price map. With an ETag it supports conditional requests. */
export const sendMap =
  (map: unknown, headers: Record<string, string> = {}): Answer =>
  (response, received) => {
    if (headers['etag'] !== undefined && received['if-none-match'] === headers['etag'])
      return void response.writeHead(304).end();
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(JSON.stringify(map));
  };

/** Log that records its messages with their levels. */
export function recordingLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const record = (level: string) => (_facts: object, event: string) => void lines.push(`${level} ${event}`);
  return { log: { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') }, lines };
}
