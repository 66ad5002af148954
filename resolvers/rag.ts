import { collect } from '../src/domain/bytes.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput, UnknownModel, UpstreamFailed } from '../src/domain/errors.ts';
import { RERANK } from '../src/domain/inference/endpoint.ts';
import { isJsonObject, type JsonObject } from '../src/domain/json-object.ts';
import {
  accountMember,
  type IngestDraft,
  type Ingested,
  ingestProvider,
  storeOptionsOf,
  uploadOptionsOf,
} from '../src/domain/rag/ingest.ts';
import {
  QueryFailed,
  queryTextOf,
  rerankedTexts,
  resultTexts,
  type Retrieval,
  searchBody,
  withContext,
} from '../src/domain/rag/query.ts';
import { checkedUpload } from '../src/domain/rag/upload.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { type IngestSource, runIngest } from './operation/ingest-pipeline.ts';
import { permissionTerms } from './operation/object-rights.ts';
import { callerOf, operation } from './operation/operation.ts';
import { assertMayUseResolved, resolvedStore } from './operation/resolved-stores.ts';
import type { Scope } from './operation/scope.ts';
import { askStore, targetOfStore, upstreamFileId } from './operation/vector-store-calls.ts';
import { vectorStoreReader, vectorStoreWriter } from './operation/vector-store-access.ts';
import type { RagPlatform } from './operation/vector-store-platform.ts';

type RagScope = Scope<RagPlatform>;

/**
 * Ingests a file into a vector store; creates and registers a store when none is named. A registered store has the
 * provider and the parameters of its registration. A failed pipeline is a result. Throws InvalidInput, UploadRefused,
 * NotFound, Forbidden and LimitExceeded.
 */
export const ingestFile = operation({
  name: 'ingestFile',
  access: vectorStoreWriter,
  async run(scope: RagScope, draft: IngestDraft): Promise<Ingested> {
    const named = storeOptionsOf(draft);
    const options = draft.options ?? {};
    const { vector_store_id: sentId = null } = named;
    if (sentId !== null && (typeof sentId !== 'string' || sentId === ''))
      throw new InvalidInput('vector_store_id must be a string.');
    const resolved = sentId === null ? null : resolvedStore(scope, sentId);
    if (resolved !== null) assertMayUseResolved(scope, resolved, 'write', await permissionTerms(scope, draft.labels));
    const store = resolved?.store ?? null;
    const provider = ingestProvider(named, store);
    const account = store === null ? accountMember(named) : null;
    if (account !== null)
      throw new InvalidInput(`vector_store.${account} is not accepted: register the vector store with its account.`);
    const upload = uploadOptionsOf(options, named);
    const { file, fileId } = draft;
    if (file === null && sentId === null) throw new InvalidInput('file_id needs a vector_store_id.');
    const source: IngestSource =
      file === null
        ? { kind: 'stored', id: await upstreamFileId(scope, fileId ?? ''), ownId: fileId ?? '' }
        : { kind: 'sent', file: checkedUpload(file) };
    const target = await targetOfStore(scope, { store, provider, storeId: resolved?.storeId ?? '' });
    const ingested = await runIngest(scope, { ...target, labels: draft.labels }, { source, upload });
    // The caller knows the store of an index by the name of the index.
    const isOfIndex = (resolved?.index ?? null) !== null && ingested.vectorStoreId === resolved?.storeId;
    return isOfIndex ? { ...ingested, vectorStoreId: sentId ?? '' } : ingested;
  },
});

/** A query and how its context is retrieved. */
export interface RagQuery {
  /** The chat completion, without context. */
  readonly request: ModelRequest;
  readonly retrieval: Retrieval;
}

/** The call that answers a query, and what was retrieved for it. */
export interface AnsweredQuery {
  readonly call: GatewayCall;
  /** The page of results of the provider. */
  readonly search: JsonObject;
  /** The answer of the rerank model; null without reranking. */
  readonly reranked: JsonObject | null;
}

/**
 * Searches a vector store for the last message, and calls a model with the texts that were found. Throws InvalidInput,
 * NotFound, Forbidden, LimitExceeded, QueryFailed, and what the gateway's `call` throws.
 */
export const queryRag = operation({
  name: 'queryRag',
  access: vectorStoreReader,
  async run(scope: RagScope, { request, retrieval }: RagQuery): Promise<AnsweredQuery> {
    const { provider, config } = retrieval;
    const resolved = resolvedStore(scope, retrieval.storeId);
    assertMayUseResolved(scope, resolved, 'read', await permissionTerms(scope, request.labels));
    const { store, storeId } = resolved;
    const account = store === null ? accountMember(config) : null;
    if (account !== null)
      throw new InvalidInput(
        `retrieval_config.${account} is not accepted: register the vector store with its account.`,
      );
    const messages = messagesOf(request);
    const query = queryTextOf(messages);
    const json = searchBody(query, config, store);
    const target = await targetOfStore(scope, { store, provider, storeId });
    try {
      const { callId: _own, ...facts } = request;
      const search = await askStore(scope, target, {
        action: 'search',
        method: 'POST',
        path: ['vector_stores', storeId, 'search'],
        json,
        callId: null,
        parent: facts.parent,
        ...(facts.labels === undefined ? {} : { labels: facts.labels }),
      });
      const found = resultTexts(search);
      const reranked = await rerank(scope, { query, texts: found, request, retrieval });
      const texts = reranked === null ? found : rerankedTexts(found, reranked);
      const call = await scope.platform.gateway.call(callerOf(scope), withMessages(request, texts), scope.signal);
      return { call, search, reranked };
    } catch (failure) {
      if (failure instanceof UnknownModel) throw new InvalidInput(failure.message, [], { cause: failure });
      if (failure instanceof UpstreamFailed) throw new QueryFailed(failure);
      throw failure;
    }
  },
});

const messagesOf = ({ body }: ModelRequest): readonly unknown[] => {
  const { messages } = body;
  return Array.isArray(messages) ? messages : [];
};

function withMessages(request: ModelRequest, texts: readonly string[]): ModelRequest {
  const body = { ...request.body, messages: withContext(messagesOf(request), texts) };
  return { ...request, body, bytes: new TextEncoder().encode(JSON.stringify(body)) };
}

/** Maximum size of the answer of a rerank model, in bytes. */
const MAX_RERANK_BYTES = 16 * 1024 * 1024;

/** Orders texts by a rerank model. Null where the query requests none, and without texts. */
async function rerank(
  scope: RagScope,
  about: RagQuery & { readonly query: string; readonly texts: readonly string[] },
): Promise<JsonObject | null> {
  const { query, texts, request, retrieval } = about;
  if (retrieval.rerank === null || texts.length === 0) return null;
  const { model, topN } = retrieval.rerank;
  const body = { model, query, documents: texts, top_n: Math.min(topN, texts.length) };
  const call = await scope.platform.gateway.call(
    callerOf(scope),
    {
      endpoint: RERANK,
      model,
      stream: false,
      includeUsage: false,
      bytes: new TextEncoder().encode(JSON.stringify(body)),
      body,
      callId: null,
      parent: request.parent,
      ...(request.labels === undefined ? {} : { labels: request.labels }),
    },
    scope.signal,
  );
  return await call.consume(async (stream) => {
    const answer = parsed(await collect(stream, MAX_RERANK_BYTES));
    if (answer !== null) return answer;
    const message = `The answer of the rerank model ${model} cannot be used: it is no JSON object.`;
    throw new UpstreamFailed(message, { provider: call.deployment.provider, upstreamStatus: null });
  });
}

/** A body as a JSON object. Null for another body, and for one that is too large. */
function parsed(bytes: Uint8Array | null): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
