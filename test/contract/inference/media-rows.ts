/** Multipart form. `file` is the name of a field with a binary file; null for a form without a file. */
export function aForm(fields: Readonly<Record<string, string>>, file: string | null): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (file !== null) form.append(file, new Blob([Buffer.from([0x89, 0xff, 0x00, 0x0d, 0x0a])]), 'naïve.bin');
  return form;
}

const PICTURES = {
  created: 1,
  data: [{ b64_json: 'iVBORw0KGgo=' }, { b64_json: 'QUJD', revised_prompt: 'x]}' }],
  size: '1024x1024',
  quality: 'low',
  usage: {
    input_tokens: 60,
    input_tokens_details: { text_tokens: 10, image_tokens: 50 },
    output_tokens: 1000,
    total_tokens: 1060,
  },
};
/** Cost in USD: 10 text tokens at 0.5, 50 image input tokens at 0.25, 1000 image output tokens at 0.125. */
const PICTURES_COST = '142.5';

const TRANSCRIPT = {
  text: 'hello there',
  usage: {
    type: 'tokens',
    input_tokens: 14,
    input_token_details: { text_tokens: 4, audio_tokens: 10 },
    output_tokens: 5,
    total_tokens: 19,
  },
};
/** Cost in USD: 4 text tokens at 0.5, 10 audio tokens at 0.75, 5 output tokens at 0.25. */
const TRANSCRIPT_COST = '10.75';

const NO_DETAILS = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/**
 * A request and an upstream answer for each endpoint of images, transcriptions and translations. `forwardedParts`
 * matches three parts of the request to the upstream. `missingField` is a request without the required field `param`.
 */
export const MEDIA_ROWS = [
  {
    name: 'images.generate',
    path: '/images/generations',
    body: (model: string | null) => JSON.stringify({ ...(model === null ? {} : { model }), prompt: 'a cat', n: 2 }),
    forwardedParts: /"model":"up-1"|"prompt":"a cat"|"n":2/g,
    missingField: { body: JSON.stringify({ model: 'medium' }), param: 'prompt' },
    answer: PICTURES,
    cost: PICTURES_COST,
    usage: { inputTokens: 60, outputTokens: 1000, ...NO_DETAILS },
    outputType: 'image',
    callType: 'aimage_generation',
    answerKind: 'a list of pictures',
  },
  {
    name: 'images.edit',
    path: '/images/edits',
    body: (model: string | null) =>
      aForm({ ...(model === null ? {} : { model }), prompt: 'a cat', tags: 'x' }, 'image[]'),
    forwardedParts: /name="(model"\r\n\r\nup-1|prompt"\r\n\r\na cat|image\[\]"; filename="naïve\.bin")/g,
    missingField: { body: aForm({ model: 'medium', prompt: 'x' }, null), param: 'image' },
    answer: PICTURES,
    cost: PICTURES_COST,
    usage: { inputTokens: 60, outputTokens: 1000, ...NO_DETAILS },
    outputType: 'image',
    callType: 'aimage_edit',
    answerKind: 'a list of pictures',
  },
  {
    name: 'images.variation',
    path: '/images/variations',
    body: (model: string | null) =>
      aForm({ ...(model === null ? {} : { model }), size: '256x256', user: 'é' }, 'image'),
    forwardedParts: /name="(model"\r\n\r\nup-1|size"\r\n\r\n256x256|image"; filename="naïve\.bin")/g,
    missingField: { body: aForm({ model: 'medium' }, null), param: 'image' },
    answer: PICTURES,
    cost: PICTURES_COST,
    usage: { inputTokens: 60, outputTokens: 1000, ...NO_DETAILS },
    outputType: 'image',
    callType: 'aimage_variation',
    answerKind: 'a list of pictures',
  },
  {
    name: 'transcriptions.create',
    path: '/audio/transcriptions',
    body: (model: string | null) =>
      aForm({ ...(model === null ? {} : { model }), language: 'en', 'metadata[a]': 'b' }, 'file'),
    forwardedParts: /name="(model"\r\n\r\nup-1|language"\r\n\r\nen|file"; filename="naïve\.bin")/g,
    missingField: { body: aForm({ model: 'medium' }, null), param: 'file' },
    answer: TRANSCRIPT,
    cost: TRANSCRIPT_COST,
    usage: { inputTokens: 14, outputTokens: 5, ...NO_DETAILS },
    outputType: 'text',
    callType: 'atranscription',
    answerKind: 'a transcript',
  },
  {
    name: 'translations.create',
    path: '/audio/translations',
    body: (model: string | null) =>
      aForm({ ...(model === null ? {} : { model }), temperature: '0', caching: 'true' }, 'file'),
    forwardedParts: /name="(model"\r\n\r\nup-1|temperature"\r\n\r\n0|file"; filename="naïve\.bin")/g,
    missingField: { body: aForm({ model: 'medium' }, null), param: 'file' },
    answer: TRANSCRIPT,
    cost: TRANSCRIPT_COST,
    usage: { inputTokens: 14, outputTokens: 5, ...NO_DETAILS },
    outputType: 'text',
    callType: 'atranslation',
    answerKind: 'a transcript',
  },
] as const;
