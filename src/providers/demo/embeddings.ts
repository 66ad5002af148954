import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { invalidType } from '../../domain/inference/request-validation.ts';
import { countedTexts, tokensOf } from './reply.ts';
import { wholeAnswer } from './answers.ts';

/** Dimensions of the vectors of the demo model. */
const DIMENSIONS = 256;
const NOTICE =
  'These vectors are from the built-in demo model of Lensgate, not a language model: they tell which words a text has, not what it means.';

/** Unit vector for each text. The same words give the same vector. */
export async function embeddings(request: ModelRequest): Promise<Exchange> {
  const { body, endpoint, model } = request;
  const { encoding_format: format = 'float', dimensions = DIMENSIONS } = body;
  if (format !== 'float' && format !== 'base64') throw invalidType('encoding_format', '"float" or "base64"', endpoint);
  if (dimensions !== DIMENSIONS) throw invalidType('dimensions', `${DIMENSIONS} for the demo model`, endpoint);
  const texts = countedTexts(body['input']);
  const tokens = tokensOf(texts);
  return wholeAnswer(request, {
    object: 'list',
    notice: NOTICE,
    model,
    data: texts.map(({ text }, index) => ({
      object: 'embedding',
      index,
      embedding: encodedVector(vectorOf(text), format),
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** A vector as numbers, or as base64 of 32-bit floats, which OpenAI's clients request. */
const encodedVector = (vector: Float32Array, format: 'float' | 'base64'): readonly number[] | string =>
  format === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64');

/**
 * Vector by feature hashing: each word adds 1 or -1 at the index of its hash. The highest bit of the hash selects the
 * sign. Texts with shared words are similar.
 */
export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = hashOf(word);
    const at = hash % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + (hash & 0x80000000 ? -1 : 1);
  }
  const length = Math.hypot(...vector);
  // A text without words gets a unit vector, too. The similarity to a zero vector is undefined.
  if (length === 0) vector[0] = 1;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** FNV-1a hash of the UTF-16 code units. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
