import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Endpoint } from '../../domain/inference/endpoint.ts';
import { openAiNative, upstreamRequest } from '../../wire/chat-completions/native.ts';
import { COHERE_EMBEDDINGS, COHERE_NATIVE } from '../../wire/cohere-chat/native.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { textsToEmbed } from '../../wire/embeddings/answer.ts';
import { withoutNulls } from '../../wire/json/fields.ts';
import type { Protocol } from '../http-provider.ts';

const COHERE_BASE = 'https://api.cohere.com';
const RERANK_NATIVE = openAiNative();

/** Protocol of Cohere's API v2: chat, embeddings and rerank. */
export function cohere(name: 'cohere' | 'cohere_chat'): Protocol {
  return {
    name,
    dialectOf,
    prepare(deployment, request) {
      const { apiKey } = deployment;
      return {
        url: `${baseOf(deployment)}${pathOf(request.endpoint)}`,
        headers: {
          'content-type': 'application/json',
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey.reveal()}` }),
        },
        body: bodyOf(deployment, request),
      };
    },
  };
}

function dialectOf({ dialect, operation }: Endpoint): NativeDialect | null {
  if (dialect === 'cohere-chat') return COHERE_NATIVE;
  if (operation === 'embeddings') return COHERE_EMBEDDINGS;
  return operation === 'rerank' ? RERANK_NATIVE : null;
}

/** Base URL. `api_base` may contain a version and an endpoint path, which are removed. */
const baseOf = ({ apiBase }: Deployment): string => (apiBase ?? COHERE_BASE).replace(/\/v\d(\/.*)?$/, '');

function pathOf({ operation, path }: Endpoint): string {
  if (operation === 'embeddings') return '/v2/embed';
  return operation === 'rerank' ? '/v2/rerank' : path;
}

function bodyOf({ upstreamModel }: Deployment, request: ModelRequest): Uint8Array {
  const { endpoint, body, bytes } = request;
  if (endpoint.dialect === 'cohere-chat') return bytes;
  if (endpoint.operation === 'rerank') return upstreamRequest(request, upstreamModel);
  const embedRequest = withoutNulls({
    model: upstreamModel,
    texts: textsToEmbed(body),
    // OpenAI's API has no input type, but Cohere requires one. A caller may send `input_type`.
    input_type: body['input_type'] ?? 'search_document',
    embedding_types: ['float'],
    output_dimension: body['dimensions'],
    truncate: body['truncate'],
  });
  return Buffer.from(JSON.stringify(embedRequest));
}
