import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import type { SearchTool } from './search-tool.ts';

/** Whether the caller may use a tool: keys with `object_permission.search_tools` only those that it names. */
export function mayUseTool({ key }: Caller, { id, name }: Pick<SearchTool, 'id' | 'name'>): boolean {
  const listed: unknown = key?.settings.objectPermission?.['search_tools'];
  return !Array.isArray(listed) || listed.length === 0 || listed.includes(name) || listed.includes(id);
}

/** Error for a tool that the caller may not use. */
export const refuseTool = (name: string): Forbidden =>
  new Forbidden(`The key is not allowed to use the search tool ${name}.`, 'key_search_tool');
