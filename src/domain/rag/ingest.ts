import type { CallLabels } from '../calls/call-labels.ts';
import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { STORE_PROVIDERS } from '../vector-stores/store-action.ts';
import type { VectorStore } from '../vector-stores/vector-store.ts';

/** A file to ingest, as it was sent. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A request to ingest one file. Null members were not sent. */
export interface IngestDraft {
  readonly file: SentFile | null;
  readonly fileUrl: string | null;
  readonly fileId: string | null;
  /** `ingest_options`; null when it is no object. */
  readonly options: JsonObject | null;
  /** Labels of the request, such as its customer. Absent for none. */
  readonly labels?: CallLabels;
}

/** Result of a pipeline. A failed pipeline is a result, too. */
export interface Ingested {
  readonly id: string;
  readonly status: 'completed' | 'in_progress' | 'failed';
  /** Empty where the pipeline failed. */
  readonly vectorStoreId: string;
  readonly fileId: string | null;
  /** Why the pipeline failed; null when it did not. */
  readonly error: string | null;
}

/** Options of one ingest. Other members of `vector_store` are ignored for a registered store. */
export interface UploadOptions {
  /** Name of the store that the ingest creates; null for none. */
  readonly storeName: string | null;
  /** In the format of OpenAI; null for the default of the provider. */
  readonly chunking: JsonObject | null;
  /** Attributes of the file at the provider; null for none. */
  readonly attributes: JsonObject | null;
  /** Whether the ingest ends when the file is searchable, and not when it is added. */
  readonly waits: boolean;
  /** Maximum wait for a searchable file. */
  readonly timeoutSeconds: number;
}

/** Members that name an account or an address of a provider. A request may not have them. */
const ACCOUNT_MEMBERS =
  /^(api_key|api_base|base_url|api_version|litellm_credential_name|organization|extra_headers|headers)$|credential|secret|token|^aws_|^vertex_|password/i;

/** The first member of a map that names an account or an address; null for none. */
export const accountMember = (members: JsonObject): string | null =>
  Object.keys(members).find((name) => ACCOUNT_MEMBERS.test(name)) ?? null;

/** The options in `vector_store`. Throws InvalidInput for a request without a file, and without these options. */
export function storeOptionsOf({ file, fileUrl, fileId, options }: IngestDraft): JsonObject {
  if (file === null && fileUrl === null && fileId === null)
    throw new InvalidInput('Must provide file, file_url, or file_id');
  const store = options?.['vector_store'];
  if (!isJsonObject(store)) throw new InvalidInput('ingest_options must contain vector_store');
  if (fileUrl !== null)
    throw new InvalidInput('file_url is not supported here: send the content of the file, or a file_id.');
  return store;
}

/** Provider of an ingest: that of the registered store, else the named one. Throws InvalidInput for another one. */
export function ingestProvider(options: JsonObject, store: VectorStore | null): string {
  const named = options['custom_llm_provider'] ?? 'openai';
  const provider = store?.provider ?? (typeof named === 'string' ? named : '');
  if (STORE_PROVIDERS.includes(provider)) return provider;
  const supported = STORE_PROVIDERS.join(', ');
  throw new InvalidInput(
    `Provider '${provider}' is not supported for RAG ingestion. Supported providers: ${supported}`,
  );
}

const DEFAULT_TIMEOUT_SECONDS = 300;
const MAX_TIMEOUT_SECONDS = 600;

/** Options of the caller that apply. Throws InvalidInput for one of a wrong type. */
export function uploadOptionsOf(options: JsonObject, store: JsonObject): UploadOptions {
  const { name = null } = options;
  if (name !== null && typeof name !== 'string') throw invalid('ingest_options.name', 'a string');
  const waits = store['wait_for_ingestion'] ?? true;
  if (typeof waits !== 'boolean') throw invalid('wait_for_ingestion', 'a boolean');
  const timeoutSeconds = store['ingestion_timeout'] ?? DEFAULT_TIMEOUT_SECONDS;
  if (typeof timeoutSeconds !== 'number' || timeoutSeconds <= 0)
    throw invalid('ingestion_timeout', 'a number of seconds above 0');
  return {
    storeName: name,
    chunking: chunkingOf(options['chunking_strategy'] ?? null),
    attributes: attributesOf(store),
    waits,
    timeoutSeconds: Math.min(timeoutSeconds, MAX_TIMEOUT_SECONDS),
  };
}

/** Attributes of the file at the provider; null for none. */
function attributesOf({ custom_metadata: metadata = null, file_description: description = null }: JsonObject) {
  if (metadata !== null && !isJsonObject(metadata)) throw invalid('custom_metadata', 'an object');
  if (description !== null && typeof description !== 'string') throw invalid('file_description', 'a string');
  const attributes = { ...metadata, ...(description === null ? {} : { file_description: description }) };
  return Object.keys(attributes).length === 0 ? null : attributes;
}

/** Bounds and default of the size of a chunk at OpenAI, in tokens. */
const MIN_CHUNK = 100;
const MAX_CHUNK = 4096;
const DEFAULT_CHUNK = 800;

const isWholeNumber = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;

/**
 * Chunking in the format of OpenAI; null for the default. `chunk_size` and `chunk_overlap` are the format of the
 * reference, and are read as numbers of tokens. Throws InvalidInput.
 */
function chunkingOf(strategy: unknown): JsonObject | null {
  if (strategy === null) return null;
  if (!isJsonObject(strategy)) throw invalid('chunking_strategy', 'an object');
  if (typeof strategy['type'] === 'string') return strategy;
  const { chunk_size: sentSize = null, chunk_overlap: sentOverlap = null } = strategy;
  if (sentSize === null && sentOverlap === null) return null;
  const size = sentSize ?? DEFAULT_CHUNK;
  if (!isWholeNumber(size, MIN_CHUNK, MAX_CHUNK))
    throw invalid('chunking_strategy.chunk_size', `a whole number from ${MIN_CHUNK} to ${MAX_CHUNK}`);
  const maxOverlap = Math.floor(size / 2);
  const overlap = sentOverlap ?? Math.min(maxOverlap, DEFAULT_CHUNK / 2);
  if (!isWholeNumber(overlap, 0, maxOverlap))
    throw invalid('chunking_strategy.chunk_overlap', 'a whole number up to half of chunk_size');
  return { type: 'static', static: { max_chunk_size_tokens: size, chunk_overlap_tokens: overlap } };
}

const invalid = (member: string, expected: string): InvalidInput => new InvalidInput(`${member} must be ${expected}.`);
