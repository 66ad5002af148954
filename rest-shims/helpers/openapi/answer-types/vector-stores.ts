import type { AnswerTypes } from './notation.ts';

const CHANGED = '{ status: string, message: string, vector_store: VectorStore }';

const INDEX = `
  { id: string, index_name: string,
    litellm_params: { vector_store_index?: string, vector_store_name?: string | null }, index_info: object | null,
    created_at: string, created_by: string, updated_at: string, updated_by: string }
`;

/** Answers of route rows about registered vector stores and about answers with their texts. */
export const VECTOR_STORE_ANSWERS: AnswerTypes = {
  'rag.ingest': '{ id: string, status: string, vector_store_id: string, file_id: string | null, error?: string }',
  'rag.query': { 'application/json': 'object', 'text/event-stream': 'string' },
  'vectorStoreIndexes.create': INDEX,
  'vectorStoreIndexes.delete': '{ status: string, message: string }',
  'vectorStoreIndexes.get': INDEX,
  'vectorStoreIndexes.list': `
    { object: string, data: ${INDEX}[], total_count: integer, current_page: integer, total_pages: integer }
  `,
  'vectorStores.create': CHANGED,
  'vectorStores.delete': '{ status: string, message: string }',
  'vectorStores.get': '{ vector_store: VectorStore }',
  'vectorStores.list': `
    { object: string, data: VectorStore[], total_count: integer, current_page: integer, total_pages: integer }
  `,
  'vectorStores.update': CHANGED,
};
