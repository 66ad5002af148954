import type { AnswerTypes } from './notation.ts';

const MEMORY = `
  { memory_id: string, key: string, value: string, metadata: unknown, user_id: string | null, team_id: string | null,
    created_at: string, created_by: string, updated_at: string, updated_by: string }
`;

/** Answers of route rows about memory. */
export const MEMORY_ANSWERS: AnswerTypes = {
  'memory.create': MEMORY,
  'memory.delete': '{ key: string, deleted: boolean }',
  'memory.get': MEMORY,
  'memory.list': `{ memories: ${MEMORY}[], total: integer }`,
  'memory.put': MEMORY,
};
