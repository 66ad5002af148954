import { ingestFile, queryRag } from '../resolvers/rag.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { CHAT_COMPLETIONS } from '../src/domain/inference/endpoint.ts';
import { isJsonObject, type JsonObject } from '../src/domain/json-object.ts';
import type { IngestDraft, Ingested, SentFile } from '../src/domain/rag/ingest.ts';
import { retrievalOf, withResults } from '../src/domain/rag/query.ts';
import { fieldsOf } from '../src/wire/multipart/form.ts';
import { parseObject } from './helpers/http/body-fields.ts';
import { isMultipart, parseForm } from './helpers/http/form.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { labelsOf } from './helpers/model-call/labels.ts';
import { type CallFormat, callThrough, openAiFormat } from './helpers/model-call/model-call.ts';

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** For the labels of an ingest, which are those of a chat completion. */
const INGEST = { ...CHAT_COMPLETIONS, path: '/rag/ingest' } as const;

const draftOf = (request: HttpRequest, fields: JsonObject, file: SentFile | null): IngestDraft => ({
  file,
  fileUrl: textIn(fields['file_url']),
  fileId: textIn(fields['file_id']),
  options: isJsonObject(fields['ingest_options']) ? fields['ingest_options'] : null,
  ...labelsIn(request, fields),
});

function labelsIn(request: HttpRequest, body: JsonObject): Pick<IngestDraft, 'labels'> {
  const { labels } = labelsOf(request, { endpoint: INGEST, body });
  return labels === undefined ? {} : { labels };
}

/** Reads JSON, or a form with the file as the part `file` and the JSON as the part `request`. Throws InvalidInput. */
function parseIngest(request: HttpRequest): IngestDraft {
  if (!isMultipart(request)) {
    const fields = parseObject(request.body);
    return draftOf(request, fields, fileIn(fields['file'] ?? null));
  }
  const form = parseForm(request, '/rag/ingest', 'file');
  const [part, another] = form.parts.filter(({ name, filename }) => name === 'file' && filename !== null);
  if (another !== undefined) throw new InvalidInput('One file can be sent at a time.');
  const { request: sent } = fieldsOf(form);
  const fields = typeof sent === 'string' ? parseObject(Buffer.from(sent)) : {};
  if (part === undefined) return draftOf(request, fields, fileIn(fields['file'] ?? null));
  return draftOf(request, fields, {
    name: part.filename ?? '',
    bytes: form.bytes.subarray(part.bodyStart, part.bodyEnd),
  });
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The file of a JSON body, whose content is Base64. Throws InvalidInput. */
function fileIn(value: unknown): SentFile | null {
  if (value === null) return null;
  if (!isJsonObject(value)) throw new InvalidInput('file must be an object with filename and content.');
  const { filename, content } = value;
  const isEncoded = typeof content === 'string' && content.length % 4 === 0 && BASE64.test(content);
  if (!isEncoded) throw new InvalidInput('file.content must be Base64.');
  return { name: typeof filename === 'string' ? filename : '', bytes: Buffer.from(content, 'base64') };
}

const renderIngested = ({ id, status, vectorStoreId, fileId, error }: Ingested): HttpAnswer =>
  json({ id, status, vector_store_id: vectorStoreId, file_id: fileId, ...(error === null ? {} : { error }) });

/** Results of the search and of the reranking of a query. */
type QueryResults = Parameters<typeof withResults>[1];

/** Members of a query that the model does not get. */
const OWN_MEMBERS = new Set(['retrieval_config', 'rerank']);

/** Answers a query with a chat completion, whose messages name the results of the search. */
async function query(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const fields = parseObject(request.body);
  const retrieval = retrievalOf(fields);
  const chatFields = Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN_MEMBERS.has(name)));
  const body = Buffer.from(JSON.stringify(chatFields));
  const format = openAiFormat(CHAT_COMPLETIONS);
  /** Results of the search, after the call of the model; null when it failed. */
  let found: QueryResults | null = null;
  const ragFormat: CallFormat = {
    ...format,
    async call(callScope, chat) {
      const { call, ...results } = await queryRag(callScope, { request: chat, retrieval });
      found = results;
      return call;
    },
  };
  const answer = await callThrough(ragFormat, { ...request, body, parsesEagerly: true }, scope);
  return found === null ? answer : answerWith(answer, found);
}

/** The answer with the results in its messages. A stream is unchanged. */
function answerWith(answer: HttpAnswer, found: QueryResults): HttpAnswer {
  if (answer.body.kind !== 'bytes') return answer;
  const { bytes, contentType } = answer.body;
  const value = withResults(JSON.parse(new TextDecoder().decode(bytes)) as unknown, found);
  return { ...answer, body: { kind: 'bytes', bytes: new TextEncoder().encode(JSON.stringify(value)), contentType } };
}

const ROW = {
  surface: 'management',
  credential: 'required',
  method: 'POST',
  bodyLimit: 'setting',
  failureForm: { body: 'detail' },
} as const satisfies Partial<RouteRow>;

const OBJECT = { type: 'object' };

/** Ingestion of files into vector stores, and chat completions with their texts. */
export const ragRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    name: 'rag.ingest',
    bodySchema: objectSchema({
      file: objectSchema({
        filename: { type: 'string' },
        content: { type: 'string', format: 'byte' },
        content_type: { type: 'string' },
      }),
      file_id: { type: 'string' },
      ingest_options: objectSchema({ vector_store: OBJECT, name: { type: 'string' }, chunking_strategy: OBJECT }, [
        'vector_store',
      ]),
    }),
    paths: ['/v1/rag/ingest', '/rag/ingest'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseIngest,
    run: ingestFile,
    render: renderIngested,
  }),
  {
    ...ROW,
    name: 'rag.query',
    relays: 'failures',
    bodySchema: objectSchema(
      {
        model: { type: 'string' },
        messages: { type: 'array', items: OBJECT },
        retrieval_config: objectSchema({ vector_store_id: { type: 'string' }, top_k: { type: 'integer' } }, [
          'vector_store_id',
        ]),
        rerank: objectSchema({ enabled: { type: 'boolean' }, model: { type: 'string' }, top_n: { type: 'integer' } }),
        stream: { type: 'boolean' },
      },
      ['model', 'messages', 'retrieval_config'],
    ),
    paths: ['/v1/rag/query', '/rag/query'],
    statuses: [200, 400, 401, 403, 404, 422, 500],
    handle: query,
  },
];
