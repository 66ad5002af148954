import type { Caller } from '../caller.ts';
import { isJsonObject } from '../json-object.ts';
import { type ObjectPermission, UNREADABLE_PERMISSION } from './object-permission.ts';

/** The customer that a call names, with the permission of its row. */
interface NamedCustomer {
  readonly id: string;
  /** Null for a customer without a permission or without a row. */
  readonly permission: ObjectPermission | null;
}

/** What decides the rights of a call, besides its key and the owners of the key. */
export interface PermissionTerms {
  /** Null when the call names none. */
  readonly customer: NamedCustomer | null;
  /** Whether a key without MCP servers of its own has none, and does not inherit those of its team. */
  readonly keyNeedsServers: boolean;
  /** Whether a call for a customer without MCP servers has none. */
  readonly customerNeedsServers: boolean;
}

/** Terms of a call without a customer, with the switches off. */
export const PLAIN_TERMS: PermissionTerms = Object.freeze({
  customer: null,
  keyNeedsServers: false,
  customerNeedsServers: false,
});

/** Permissions that apply to one call. */
export interface PermissionLayers {
  readonly key: ObjectPermission | null;
  readonly team: ObjectPermission | null;
  readonly customer: ObjectPermission | null;
  /** Of the user and of the organization. */
  readonly owners: readonly ObjectPermission[];
}

const NO_LAYERS: PermissionLayers = Object.freeze({ key: null, team: null, customer: null, owners: [] });

/** A stored permission. Null for none. */
const stored = (permission: unknown): ObjectPermission | null => {
  if (permission === undefined || permission === null) return null;
  return isJsonObject(permission) ? permission : UNREADABLE_PERMISSION;
};

/** The permissions of a caller. A caller without a virtual key has none. */
export function permissionLayersOf({ key }: Caller, { customer }: PermissionTerms): PermissionLayers {
  if (key === null) return NO_LAYERS;
  const { user, team, organization } = key.owners ?? {};
  return {
    key: stored(key.settings.objectPermission),
    team: stored(team?.objectPermission),
    customer: stored(customer?.permission),
    owners: [user, organization].map((owner) => stored(owner?.objectPermission)).filter((one) => one !== null),
  };
}

/** All permissions of a caller: each restricts the others. */
export const allLayers = ({ key, team, customer, owners }: PermissionLayers): readonly ObjectPermission[] =>
  [key, team, customer, ...owners].filter((one) => one !== null);

/** Port to the permissions of customers. */
export interface CustomerPermissions {
  /** The permission of a customer, at most a few seconds old. Null without one. Throws when it cannot be read. */
  of(customerId: string): ObjectPermission | null | Promise<ObjectPermission | null>;
}
