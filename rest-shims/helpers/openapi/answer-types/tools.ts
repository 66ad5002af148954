import type { AnswerTypes } from './notation.ts';

const TOOL = `
  { tool_id: string, tool_name: string, origin: string, input_policy: string, output_policy: string,
    call_count: integer, assignments: null, key_hash: string | null, team_id: string | null, key_alias: string | null,
    user_agent: string | null, last_used_at: string | null, created_at: string, updated_at: string,
    created_by: string, updated_by: string }
`;
const OVERRIDE = `
  { override_id: string, tool_name: string, team_id: string | null, key_hash: string | null, input_policy: string,
    key_alias: string | null, created_at: string, updated_at: string }
`;
const OPTION = '{ value: string, label: string, description: string }';

/** Answers of route rows about tools. */
export const TOOL_ANSWERS: AnswerTypes = {
  'tools.deleteOverride': '{ deleted: boolean, tool_name: string }',
  'tools.detail': `{ tool: ${TOOL}, overrides: ${OVERRIDE}[] }`,
  'tools.get': TOOL,
  'tools.list': `{ tools: ${TOOL}[], total: integer }`,
  'tools.logs': `
    { logs: {
        id: string, timestamp: string, model: string, spend: number | null, total_tokens: integer, input_snippet: null
      }[], total: integer, page: integer, page_size: integer }
  `,
  'tools.options': `{ input_policies: ${OPTION}[], output_policies: ${OPTION}[] }`,
  'tools.setPolicy': `
    { tool_name: string, input_policy: string | null, output_policy: string | null, updated: boolean,
      team_id: string | null, key_hash: string | null }
  `,
  'tools.spend': `
    { by_tool: { tool_name: string, spend: number, call_count: integer, total_tokens: integer }[],
      daily: { date: string, tool_name: string, spend: number, call_count: integer }[],
      start_date: string, end_date: string }
  `,
};
