import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const STORE_KEY = 'sk-store-account-0123456789';

type Json = Readonly<Record<string, unknown>>;

interface Received {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** An upstream with OpenAI's API of files, vector stores, chat completions and reranking, in memory. */
export interface VectorStoreUpstream {
  readonly url: string;
  readonly received: readonly Received[];
  /** Ids of the stores and of the files that exist. */
  stores(): readonly string[];
  files(): readonly string[];
  stop(): Promise<void>;
}

interface StoredFile {
  readonly id: string;
  readonly text: string;
}

interface AddedFile extends StoredFile {
  readonly object: Json;
  reads: number;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const failure = (status: number, message: string): readonly [number, Json] => [
  status,
  { error: { message, type: 'invalid_request_error', param: null, code: null } },
];

/** A text in a file that fails, and one in a file that stays in progress. */
export const BROKEN = 'BROKEN';
export const ENDLESS = 'ENDLESS';

const parsed = (body: string): Json => (body.startsWith('{') ? (JSON.parse(body) as Json) : {});

/** Starts the upstream on a free loopback port. It accepts `STORE_KEY` only. */
export async function startVectorStoreUpstream(): Promise<VectorStoreUpstream> {
  const received: Received[] = [];
  const files = new Map<string, StoredFile>();
  const stores = new Map<string, { object: Json; readonly files: Map<string, AddedFile> }>();
  const batches = new Map<string, { object: Json; readonly fileIds: readonly string[] }>();
  let count = 0;

  function shownFile({ object, text, reads }: AddedFile): Json {
    if (text.includes(ENDLESS)) return object;
    if (reads === 0) return object;
    if (!text.includes(BROKEN)) return { ...object, status: 'completed' };
    return { ...object, status: 'failed', last_error: { code: 'invalid_file', message: 'The file cannot be read.' } };
  }

  function answerFiles(method: string, id: string, body: string): readonly [number, unknown] {
    if (method === 'POST') {
      count += 1;
      const text = /filename="[^"]*"\r\n[^\r]*\r\n\r\n([^]*?)\r\n--/.exec(body)?.[1] ?? '';
      const filename = /filename="([^"]*)"/.exec(body)?.[1] ?? '';
      files.set(`file-up${count}`, { id: `file-up${count}`, text });
      return [200, { id: `file-up${count}`, object: 'file', bytes: text.length, filename, purpose: 'assistants' }];
    }
    return files.delete(id) ? [200, { id, object: 'file', deleted: true }] : failure(404, `No such File object: ${id}`);
  }

  function answerStores(call: Received, segments: readonly string[]): readonly [number, unknown] {
    const [id = '', kind, fileId = '', content] = segments;
    const sent = parsed(call.body);
    if (id === '' && call.method === 'GET')
      return [200, { object: 'list', data: [...stores.values()].map(({ object }) => object), has_more: false }];
    if (id === '') {
      count += 1;
      const object = { id: `vs_up${count}`, object: 'vector_store', name: sent['name'] ?? null, status: 'completed' };
      stores.set(object.id, { object, files: new Map() });
      return [200, object];
    }
    const store = stores.get(id);
    if (store === undefined) return failure(404, `No vector store found with id '${id}'.`);
    if (kind === undefined) {
      if (call.method === 'DELETE') {
        stores.delete(id);
        return [200, { id, object: 'vector_store.deleted', deleted: true }];
      }
      if (call.method === 'POST') store.object = { ...store.object, ...sent };
      return [200, store.object];
    }
    if (kind === 'search') {
      const found = [...store.files.values()].slice(0, Number(sent['max_num_results'] ?? 10));
      const data = found.map(({ id: one, text }, at) => ({
        file_id: one,
        filename: 'a.txt',
        score: 1 - at / 10,
        attributes: {},
        content: [{ type: 'text', text }],
      }));
      const page = { object: 'vector_store.search_results.page', search_query: sent['query'], data };
      return [200, { ...page, has_more: false, next_page: null }];
    }
    if (kind === 'file_batches') return answerBatches(store, call, { id: fileId, end: content, sent, storeId: id });
    return answerStoreFiles(store, call, { fileId, content, sent, storeId: id });
  }

  /** Batches of files: a batch is completed when it is read. */
  function answerBatches(
    store: { readonly files: Map<string, AddedFile> },
    { method }: Received,
    {
      id,
      end,
      sent,
      storeId,
    }: { readonly id: string; readonly end: string | undefined; readonly sent: Json; readonly storeId: string },
  ): readonly [number, unknown] {
    if (id === '') {
      const named = (sent['files'] ?? []) as readonly Json[];
      const fileIds = [
        ...((sent['file_ids'] ?? []) as readonly string[]),
        ...named.map((one) => String(one['file_id'])),
      ];
      for (const fileId of fileIds) {
        const file = files.get(fileId);
        if (file === undefined) return failure(404, `No such File object: ${fileId}`);
        const object = { id: fileId, object: 'vector_store.file', vector_store_id: storeId, last_error: null };
        store.files.set(fileId, { ...file, object: { ...object, status: 'in_progress' }, reads: 0 });
      }
      count += 1;
      const object = { id: `vsfb_up${count}`, object: 'vector_store.files_batch', vector_store_id: storeId };
      batches.set(object.id, { object: { ...object, status: 'in_progress' }, fileIds });
      return [200, batches.get(object.id)?.object];
    }
    const batch = batches.get(id);
    if (batch === undefined || batch.object['vector_store_id'] !== storeId) return failure(404, `No batch ${id}`);
    if (end === 'files') {
      const data = [...store.files.values()].filter((one) => batch.fileIds.includes(one.id)).map(shownFile);
      return [200, { object: 'list', data, has_more: false }];
    }
    batch.object = { ...batch.object, status: method === 'POST' ? 'cancelled' : 'completed' };
    return [200, batch.object];
  }

  function answerStoreFiles(
    store: { readonly files: Map<string, AddedFile> },
    { method }: Received,
    about: {
      readonly fileId: string;
      readonly content: string | undefined;
      readonly sent: Json;
      readonly storeId: string;
    },
  ): readonly [number, unknown] {
    const { fileId, content, sent, storeId } = about;
    if (fileId === '' && method === 'GET')
      return [200, { object: 'list', data: [...store.files.values()].map(shownFile), has_more: false }];
    if (fileId === '') {
      const file = files.get(String(sent['file_id']));
      if (file === undefined) return failure(404, `No such File object: ${String(sent['file_id'])}`);
      const { file_id: _id, ...further } = sent;
      const object = { id: file.id, object: 'vector_store.file', vector_store_id: storeId, last_error: null };
      store.files.set(file.id, { ...file, object: { ...object, status: 'in_progress', ...further }, reads: 0 });
      return [200, store.files.get(file.id)?.object];
    }
    const file = store.files.get(fileId);
    if (file === undefined) return failure(404, `No such File object: ${fileId}`);
    if (content !== undefined)
      return [200, { object: 'vector_store.file_content.page', data: [{ type: 'text', text: file.text }] }];
    if (method === 'DELETE') {
      store.files.delete(fileId);
      return [200, { id: fileId, object: 'vector_store.file.deleted', deleted: true }];
    }
    if (method === 'POST') store.files.set(fileId, { ...file, object: { ...file.object, ...sent } });
    file.reads += 1;
    return [200, shownFile(store.files.get(fileId) ?? file)];
  }

  function answer(call: Received): readonly [number, unknown] {
    if (call.authorization !== `Bearer ${STORE_KEY}`) return failure(401, 'Incorrect API key provided.');
    const [, , kind, ...segments] = call.path.split('/').map(decodeURIComponent);
    const sent = parsed(call.body);
    if (kind === 'files') return answerFiles(call.method, segments[0] ?? '', call.body);
    if (kind === 'vector_stores') return answerStores(call, segments);
    if (call.path.endsWith('/rerank')) {
      const documents = sent['documents'] as readonly unknown[];
      if (documents.includes('HUGE_RERANK')) return [200, { id: 'r', results: [], padding: 'x'.repeat(17 * 2 ** 20) }];
      const results = documents.map((_one, index) => ({ index, relevance_score: index / 10 })).toReversed();
      return [200, { id: 'r', results: results.slice(0, Number(sent['top_n'])), meta: {} }];
    }
    const messages = (sent['messages'] ?? []) as readonly Json[];
    if (JSON.stringify(messages).includes('FAIL_CHAT')) return failure(418, 'The model is a teapot.');
    const content = JSON.stringify(messages);
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
    const message = { role: 'assistant', content };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return [200, { id: 'c1', object: 'chat.completion', created: 1, model: 'up-1', choices, usage }];
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const { authorization } = request.headers;
      const call = { method: request.method ?? '', path: pathname, search, authorization, body };
      received.push(call);
      const [status, value] = answer(call);
      if (parsed(body)['stream'] === true && status === 200) {
        const delta = { role: 'assistant', content: 'streamed' };
        const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'up-1' };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const event = { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] };
        response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`);
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stores: () => [...stores.keys()],
    files: () => [...files.keys()],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
