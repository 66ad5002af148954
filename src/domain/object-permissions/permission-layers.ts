import type { Caller } from '../caller.ts';
import { isJsonObject } from '../json-object.ts';
import { type ObjectPermission, UNREADABLE_PERMISSION } from './object-permission.ts';

/** The customer that a call names. */
interface NamedCustomer {
  readonly id: string;
  /** Null for a customer without a stored row, or without a permission in it. */
  readonly permission: ObjectPermission | null;
}

/** Conditions of the rights of a call, in addition to the permissions of its key and of the owners of the key. */
export interface PermissionTerms {
  /** Null when the call names no customer. */
  readonly customer: NamedCustomer | null;
  /** Whether a key without MCP grants has no servers. If not, such a key has the grants of its team. */
  readonly keyNeedsServers: boolean;
  /** Whether a call for a customer without MCP grants has no servers. */
  readonly customerNeedsServers: boolean;
}

/** Terms of a call without a customer, with both switches off. */
export const WITHOUT_CUSTOMER: PermissionTerms = Object.freeze({
  customer: null,
  keyNeedsServers: false,
  customerNeedsServers: false,
});

/** Permissions that apply to one call. */
export interface PermissionLayers {
  readonly key: ObjectPermission | null;
  readonly team: ObjectPermission | null;
  readonly customer: ObjectPermission | null;
  /** Permissions of the user and of the organization that own the key. */
  readonly owners: readonly ObjectPermission[];
}

const NO_LAYERS: PermissionLayers = Object.freeze({ key: null, team: null, customer: null, owners: [] });

/** Reads a stored permission; null for none. A value that is no JSON object refuses everything. */
const readPermission = (permission: unknown): ObjectPermission | null => {
  if (permission === undefined || permission === null) return null;
  return isJsonObject(permission) ? permission : UNREADABLE_PERMISSION;
};

/** The permissions of a caller. A caller without a virtual key has none. */
export function permissionLayersOf({ key }: Caller, { customer }: PermissionTerms): PermissionLayers {
  if (key === null) return NO_LAYERS;
  const { user, team, organization } = key.owners ?? {};
  return {
    key: readPermission(key.settings.objectPermission),
    team: readPermission(team?.objectPermission),
    customer: readPermission(customer?.permission),
    owners: [user, organization]
      .map((owner) => readPermission(owner?.objectPermission))
      .filter((permission) => permission !== null),
  };
}

/** All permissions of a caller. A right must be granted by each permission that restricts it. */
export const allLayers = ({ key, team, customer, owners }: PermissionLayers): readonly ObjectPermission[] =>
  [key, team, customer, ...owners].filter((permission) => permission !== null);

/** Port to the permissions of customers. */
export interface CustomerPermissions {
  /**
   * The permission of a customer; null for none. At most five seconds old, or a minute while the store cannot be read.
   * Throws when the store cannot be read for longer.
   */
  of(customerId: string): ObjectPermission | null | Promise<ObjectPermission | null>;
}
