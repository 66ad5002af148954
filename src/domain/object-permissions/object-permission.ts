import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';

/**
 * Rights over MCP servers, agents, vector stores and search tools, under the names of the reference
 * (`object_permission`). A key, a team, a user, an organization and a customer may have one. Members without a meaning
 * here are stored as they are.
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

/** Throws InvalidInput for a member that no rule could read. Such a member would refuse everything. */
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
 * A permission with a patch applied. Members of the patch replace stored members, and null removes one. A patch that is
 * null removes the whole permission. Throws InvalidInput.
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

/** Stands for a permission that cannot be read: no list can be read, so that it refuses everything. */
export const UNREADABLE_PERMISSION: ObjectPermission = Object.freeze(
  Object.fromEntries([...LISTS, TOOLS].map((member) => [member, false])),
);

/**
 * Names in a list. Null for a list that is absent or empty, which restricts nothing. A list that cannot be read is
 * empty: it restricts everything.
 */
export function namesIn(permission: ObjectPermission, member: PermissionList): readonly string[] | null {
  const value = permission[member];
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) return [];
  return value.length === 0 ? null : value.filter((item): item is string => typeof item === 'string');
}

/** Stands for the tools of a list that cannot be read. No tool has this name. */
const NO_TOOLS: readonly string[] = Object.freeze(['']);

/** Tools by server. Null for no lists of tools. Lists that cannot be read permit no tool. */
export function toolsIn(permission: ObjectPermission): ReadonlyMap<string, readonly string[]> | null {
  const value = permission[TOOLS];
  if (value === undefined || value === null) return null;
  if (!isJsonObject(value)) return new Map();
  const entries = Object.entries(value).map(([server, names]) => [server, isTexts(names) ? names : NO_TOOLS] as const);
  return entries.length === 0 ? null : new Map(entries);
}
