import type { AnswerTypes } from './notation.ts';

const FOUND = `
  { object: string, results: {
    title: string, url: string, snippet: string, date: string | null, last_updated: string | null
  }[] }
`;
const CHANGED = `
  search_tool_id: string, search_tool_name: string, litellm_params: object, search_tool_info: object,
  created_at: string | null, updated_at: string | null
`;
const TOOL = `{ ${CHANGED}, is_from_config: boolean }`;

/** Answers of route rows about searches of the web and their tools. */
export const SEARCH_ANSWERS: AnswerTypes = {
  'search.call': FOUND,
  'search.callTool': FOUND,
  'search.tools': `
    { object: string, data: { search_tool_name: string, search_provider: string, description: string | null }[] }
  `,
  'searchTools.create': `{ ${CHANGED} }`,
  'searchTools.delete': '{ message: string, search_tool_name: string }',
  'searchTools.get': TOOL,
  'searchTools.list': `{ search_tools: ${TOOL}[] }`,
  'searchTools.providers': '{ providers: { provider_name: string, ui_friendly_name: string }[] }',
  'searchTools.test': `
    { status: string, message: string, test_query?: string, results_count?: integer, error_type?: string }
  `,
  'searchTools.update': `{ ${CHANGED} }`,
};
