import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import { namesIn } from '../object-permissions/object-permission.ts';
import { allLayers, permissionLayersOf, PLAIN_TERMS } from '../object-permissions/permission-layers.ts';
import type { SearchTool } from './search-tool.ts';

/** Whether the caller may use a tool: `search_tools` of its key and of the owners of the key limit it. */
export const mayUseTool = (caller: Caller, { id, name }: Pick<SearchTool, 'id' | 'name'>): boolean =>
  allLayers(permissionLayersOf(caller, PLAIN_TERMS)).every((permission) => {
    const listed = namesIn(permission, 'search_tools');
    return listed === null || listed.includes(name) || listed.includes(id);
  });

/** Error for a tool that the caller may not use. */
export const refuseTool = (name: string): Forbidden =>
  new Forbidden(`The key is not allowed to use the search tool ${name}.`, 'key_search_tool');
