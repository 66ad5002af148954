import type { Deployment } from '../../domain/chat/provider.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { textsToEmbed } from '../../wire/embeddings/answer.ts';
import { withoutNulls } from '../../wire/json/fields.ts';
import { createLineReframer } from '../../wire/ndjson.ts';
import { OLLAMA_EMBEDDINGS, OLLAMA_NATIVE } from '../../wire/ollama-chat/native.ts';
import { reframedStream } from '../../wire/sse/reframed.ts';
import type { Protocol } from '../http-provider.ts';

const OLLAMA_BASE = 'http://localhost:11434';

/** Protocol of Ollama's own API. */
export function ollama(name: 'ollama' | 'ollama_chat'): Protocol {
  return {
    name,
    dialectOf({ dialect, operation }) {
      if (dialect === 'ollama-chat') return OLLAMA_NATIVE;
      return operation === 'embeddings' ? OLLAMA_EMBEDDINGS : null;
    },
    prepare(deployment, request) {
      const { apiBase, apiKey } = deployment;
      const isChat = request.endpoint.dialect === 'ollama-chat';
      return {
        url: `${apiBase ?? OLLAMA_BASE}${isChat ? request.endpoint.path : '/api/embed'}`,
        headers: {
          'content-type': 'application/json',
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey.reveal()}` }),
        },
        body: isChat ? request.bytes : embedBody(deployment, request),
      };
    },
    toEvents: (body) => reframedStream(body, createLineReframer()),
  };
}

function embedBody({ upstreamModel }: Deployment, { body }: ModelRequest): Uint8Array {
  const request = withoutNulls({ model: upstreamModel, input: textsToEmbed(body), dimensions: body['dimensions'] });
  return Buffer.from(JSON.stringify(request));
}
