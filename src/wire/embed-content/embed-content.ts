import { isJsonObject } from '../../domain/json-object.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { count, type Fields, list, object, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';

/** Methods of Google's API that return embeddings: of one content, and of several. */
export type EmbedMethod = 'embedContent' | 'batchEmbedContents';

/** An embedding request in OpenAI's format. */
export interface EmbeddingsRequest {
  readonly body: RequestBody;
  /** Members of Google's request that OpenAI's format does not have. */
  readonly dropped: readonly string[];
}

/** Settings of Google's request that OpenAI's format does not have. They affect the vectors of some models. */
const DROPPED = ['taskType', 'title', 'autoTruncate', 'documentOcr', 'audioTrackExtraction'] as const;

/** Converts a request of Google's embedding methods to OpenAI's format. Throws InvalidInput. */
export function readEmbedRequest(method: EmbedMethod, model: string, body: RequestBody): EmbeddingsRequest {
  const requests = method === 'embedContent' ? [body] : objectsIn(body['requests'], 'requests');
  if (requests.length === 0) throw malformed('requests', 'an array of at least one request');
  const settings = requests.map(settingsOf);
  const [dimensions = null, ...otherDimensions] = settings.map(dimensionsOf);
  if (otherDimensions.some((other) => other !== dimensions))
    throw malformed('requests', 'an array of requests with the same outputDimensionality');
  const input = requests.map((request, index) =>
    contentText(request['content'], method === 'embedContent' ? 'content' : `requests[${index}].content`),
  );
  return {
    body: { model, input, ...(dimensions === null ? {} : { dimensions }) },
    dropped: DROPPED.filter((member) => settings.some((one) => one[member] !== undefined)),
  };
}

/** Settings of one request, which are members of the request or of its `embedContentConfig`. */
const settingsOf = (request: Fields): Fields => ({ ...request, ...object(request['embedContentConfig']) });

const dimensionsOf = (settings: Fields): number | null =>
  count(settings['outputDimensionality'] ?? settings['output_dimensionality']);

function objectsIn(value: unknown, place: string): readonly Fields[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw malformed(place, 'an array of objects');
  return value;
}

function contentText(content: unknown, place: string): string {
  if (!isJsonObject(content)) throw malformed(place, 'an object with parts');
  const texts = list(content['parts']).map((part) => text(object(part)['text']));
  if (texts.length === 0 || texts.includes(null)) throw malformed(`${place}.parts`, 'an array of texts');
  return texts.join('\n');
}

/** Converts an OpenAI list of embeddings to Google's answer. */
export function embedAnswer(method: EmbedMethod, answer: unknown): object {
  const { data, usage } = object(answer);
  const embeddings = list(data).map((item) => ({ values: object(item)['embedding'] }));
  const tokens = count(object(usage)['prompt_tokens']);
  return {
    ...(method === 'embedContent' ? { embedding: embeddings[0] } : { embeddings }),
    ...(tokens === null ? {} : { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }),
  };
}
