import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import { namesIn } from '../object-permissions/object-permission.ts';
import { allLayers, permissionLayersOf, WITHOUT_CUSTOMER } from '../object-permissions/permission-layers.ts';
import type { SearchTool } from './search-tool.ts';

/**
 * Whether a tool is in each list `search_tools` of the key and of its owners. An absent or empty list permits all
 * tools.
 */
export const mayUseTool = (caller: Caller, { id, name }: Pick<SearchTool, 'id' | 'name'>): boolean =>
  allLayers(permissionLayersOf(caller, WITHOUT_CUSTOMER)).every((permission) => {
    const listed = namesIn(permission, 'search_tools');
    return listed === null || listed.includes(name) || listed.includes(id);
  });

/** Error for a tool that the key may not use. */
export const forbiddenTool = (name: string): Forbidden =>
  new Forbidden(`The key is not allowed to use the search tool ${name}.`, 'key_search_tool');
