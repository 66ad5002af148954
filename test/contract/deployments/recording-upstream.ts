import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Request that the upstream received. */
interface UpstreamRequest {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly model: unknown;
}

/** Upstream that answers chats and embeddings, and records its requests. */
export interface RecordingUpstream {
  readonly base: string;
  requests(): readonly UpstreamRequest[];
  stop(): void;
}

const CHAT = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
};
const EMBEDDING = {
  object: 'list',
  model: 'm',
  data: [{ object: 'embedding', index: 0, embedding: [0] }],
  usage: { prompt_tokens: 9, total_tokens: 9 },
};

export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const requests: UpstreamRequest[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { model } = JSON.parse(body) as { readonly model?: unknown };
      requests.push({ path: request.url, authorization: request.headers.authorization, model });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url?.endsWith('/embeddings') === true ? EMBEDDING : CHAT));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: () => requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
