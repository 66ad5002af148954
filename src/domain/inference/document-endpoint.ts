import type { Endpoint } from './endpoint.ts';

/** A document or an image in, its text by pages out. Mistral's format. */
export const OCR: Endpoint = {
  path: '/ocr',
  dialect: null,
  input: { member: 'document', form: 'object' },
  requiredMembers: [],
  answers: { member: 'pages', noun: 'a list of pages' },
  streams: false,
  operation: 'generate_content',
  outputs: 'text',
  billedBy: 'page',
  callType: 'aocr',
};
