import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';

/**
 * Rights over MCP servers, agents, vector stores and search tools, under the names of the reference
 * (`object_permission`). A key, a team, a user, an organization and a customer may have one. Unknown members are stored
 * unchanged, without an effect.
 */
export type ObjectPermission = JsonObject;

/** Members that are lists of names or ids. */
const LISTS = [
  'mcp_servers',
  'mcp_access_groups',
  'mcp_toolsets',
  'blocked_tools',
  'agents',
  'agent_access_groups',
  'vector_stores',
  'search_tools',
] as const;
export type PermissionList = (typeof LISTS)[number];

const TOOLS = 'mcp_tool_permissions';

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Throws InvalidInput for a known member of a wrong type, because such a member would refuse everything. */
function assertReadable(permission: ObjectPermission): void {
  const refuse = (member: string, expected: string): never => {
    const message = `Input should be a valid ${expected}`;
    throw new InvalidInput(`object_permission.${member} is not valid.`, [
      { path: ['body', 'object_permission', member], rule: 'type', message },
    ]);
  };
  for (const member of LISTS) {
    const value = permission[member];
    if (value !== undefined && !isTexts(value)) refuse(member, 'list of strings');
  }
  const tools = permission[TOOLS];
  if (tools !== undefined && !(isJsonObject(tools) && Object.values(tools).every(isTexts)))
    refuse(TOOLS, 'object of lists of strings');
}

/**
 * A permission with a patch applied. A member of the patch replaces the stored member; null removes it. A null patch
 * removes the whole permission. Throws InvalidInput for a known member of a wrong type.
 */
export function patchedPermission(
  before: ObjectPermission | null | undefined,
  patch: ObjectPermission | null,
): ObjectPermission | null {
  if (patch === null) return null;
  const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null && value !== undefined);
  const permission = Object.fromEntries(merged);
  assertReadable(permission);
  return permission;
}

/** Takes the place of a stored value that is no JSON object. All of its lists are invalid, so it refuses everything. */
export const UNREADABLE_PERMISSION: ObjectPermission = Object.freeze(
  Object.fromEntries([...LISTS, TOOLS].map((member) => [member, false])),
);

/**
 * Names in a list. Null for an absent or empty list, which restricts nothing. A value that is no list gives no names,
 * and so refuses everything.
 */
export function namesIn(permission: ObjectPermission, member: PermissionList): readonly string[] | null {
  const value = permission[member];
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) return [];
  return value.length === 0 ? null : value.filter((item): item is string => typeof item === 'string');
}

/** Takes the place of an invalid list of tools. No tool has an empty name. */
const NO_TOOLS: readonly string[] = Object.freeze(['']);

/**
 * Permitted tools by server. Null when no tools are listed, which restricts nothing. An invalid list permits no tool.
 */
export function toolsIn(permission: ObjectPermission): ReadonlyMap<string, readonly string[]> | null {
  const value = permission[TOOLS];
  if (value === undefined || value === null) return null;
  if (!isJsonObject(value)) return new Map();
  const entries = Object.entries(value).map(([server, names]) => [server, isTexts(names) ? names : NO_TOOLS] as const);
  return entries.length === 0 ? null : new Map(entries);
}
