import type { AnswerTypes } from './notation.ts';

const RUN_MEMBERS = `
  run_id: string, session_id: string, workflow_type: string, status: string, created_by: string, created_at: string,
  updated_at: string, input: object | null, output: object | null, metadata: object | null
`;
const EVENT = `
  { event_id: string, run_id: string, event_type: string, step_name: string, sequence_number: integer,
    data: object | null, created_at: string }
`;
const MESSAGE = `
  { message_id: string, run_id: string, role: string, content: string, sequence_number: integer,
    session_id: string | null, created_at: string }
`;

/** Answers of route rows about runs of workflows. */
export const WORKFLOW_ANSWERS: AnswerTypes = {
  'workflows.appendEvent': EVENT,
  'workflows.appendMessage': MESSAGE,
  'workflows.create': `{ ${RUN_MEMBERS} }`,
  'workflows.delete': '{ run_id: string, deleted: boolean }',
  'workflows.events': `{ events: ${EVENT}[], count: integer }`,
  'workflows.get': `{ ${RUN_MEMBERS}, events: ${EVENT}[] }`,
  'workflows.list': `{ runs: { ${RUN_MEMBERS} }[], count: integer }`,
  'workflows.messages': `{ messages: ${MESSAGE}[], count: integer }`,
  'workflows.update': `{ ${RUN_MEMBERS} }`,
};
