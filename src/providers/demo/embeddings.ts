import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { mistyped } from '../../domain/inference/askable.ts';
import { askedTexts, tokensOf } from './asked-texts.ts';
import { wholeAnswer } from './events.ts';

/** Numbers in each vector of the demo model. */
const DIMENSIONS = 256;
const NOTICE =
  'These vectors are from the built-in demo model of Lensgate, not a language model: they tell which words a text has, not what it means.';

/** A vector of length one for each text, the same for the same words. */
export async function embeddings(request: ModelRequest): Promise<Exchange> {
  const { body, endpoint, model } = request;
  const { encoding_format: format = 'float', dimensions = DIMENSIONS } = body;
  if (format !== 'float' && format !== 'base64') throw mistyped('encoding_format', '"float" or "base64"', endpoint);
  if (dimensions !== DIMENSIONS) throw mistyped('dimensions', `${DIMENSIONS} for the demo model`, endpoint);
  const texts = askedTexts(body['input']);
  const tokens = tokensOf(texts);
  return wholeAnswer(request, {
    object: 'list',
    notice: NOTICE,
    model,
    data: texts.map(({ text }, index) => ({ object: 'embedding', index, embedding: encoded(vectorOf(text), format) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** As numbers, or as the base64 of their bytes, which OpenAI's own clients ask for. */
const encoded = (vector: Float32Array, format: 'float' | 'base64'): readonly number[] | string =>
  format === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64');

/** Counts the words by their hash, half of them downwards: texts that share words point the same way. */
export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = hashOf(word);
    const at = hash % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + (hash & 0x80000000 ? -1 : 1);
  }
  const length = Math.hypot(...vector);
  // A text without words points somewhere, too: a vector of length zero is compared with nothing.
  if (length === 0) vector[0] = 1;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** FNV-1a, of the UTF-16 units. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
