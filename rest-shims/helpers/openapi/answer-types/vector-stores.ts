import type { AnswerTypes } from './notation.ts';

const CHANGED = '{ status: string, message: string, vector_store: VectorStore }';

/** Answers of route rows about registered vector stores and about answers with their texts. */
export const VECTOR_STORE_ANSWERS: AnswerTypes = {
  'rag.ingest': '{ id: string, status: string, vector_store_id: string, file_id: string | null, error?: string }',
  'rag.query': { 'application/json': 'object', 'text/event-stream': 'string' },
  'vectorStores.create': CHANGED,
  'vectorStores.delete': '{ status: string, message: string }',
  'vectorStores.get': '{ vector_store: VectorStore }',
  'vectorStores.list': `
    { object: string, data: VectorStore[], total_count: integer, current_page: integer, total_pages: integer }
  `,
  'vectorStores.update': CHANGED,
};
