import { type CallLabels, callLabels, END_USER } from '../../src/domain/calls/call-labels.ts';
import { type PermissionTerms, WITHOUT_CUSTOMER } from '../../src/domain/object-permissions/permission-layers.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { isSwitchedOn } from '../../src/domain/settings/switches.ts';
import type { ObjectRightsPlatform } from './object-rights-platform.ts';
import type { Scope } from './scope.ts';

/** The id of a customer as spend rows have it: without characters that rows cannot store, and with a maximum length. */
const customerLabel = (endUser: string): string =>
  callLabels({ session: null, endUser, tags: [], metadata: {} })?.[END_USER] ?? endUser;

/**
 * Terms that decide the rights of a call with these labels. Throws what the store throws when the rights of the
 * customer cannot be read.
 */
export async function permissionTerms(
  { platform, caller }: Scope<ObjectRightsPlatform>,
  labels: CallLabels | undefined,
): Promise<PermissionTerms> {
  const { customerPermissions, configuration } = platform;
  // The customer of a signed token replaces the customer that the request names.
  const endUser = nullIfBlank(caller?.key?.token?.endUserId ?? labels?.[END_USER] ?? null);
  const id = endUser === null ? null : customerLabel(endUser);
  const customer = id === null ? null : { id, permission: await customerPermissions.of(id) };
  const keyNeedsServers = isSwitchedOn(configuration, 'require_key_mcp_access_defined');
  const customerNeedsServers = isSwitchedOn(configuration, 'require_end_user_mcp_access_defined');
  if (customer === null && !keyNeedsServers) return WITHOUT_CUSTOMER;
  return { customer, keyNeedsServers, customerNeedsServers };
}
