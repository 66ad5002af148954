import type { ObjectPermission } from '../../src/domain/object-permissions/object-permission.ts';
import { readObjectOrNull } from './json-inputs.ts';

export const PERMISSION_INPUT =
  'Rights over MCP servers, agents and vector stores: an object with members such as `mcp_servers`, `agents` and `vector_stores`. A member replaces the stored member, and a null member removes it. Null instead of an object removes the whole permission.';

export const PERMISSION_OUTPUT =
  'Rights over MCP servers, agents and vector stores: an object with members such as `mcp_servers`, `agents` and `vector_stores`. Null without a permission.';

/** The permission of an input, as a member of a patch: no member when the input has none. Throws InvalidInput. */
export const permissionOf = ({
  objectPermission,
}: {
  readonly objectPermission?: unknown;
}): { readonly objectPermission?: ObjectPermission | null } =>
  objectPermission === undefined ? {} : { objectPermission: readObjectOrNull(objectPermission, 'objectPermission') };
