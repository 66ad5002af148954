import { keyOwnerRefusal } from '../../src/domain/keys/key-owner-refusal.ts';
import { isSwitchedOn } from '../../src/domain/settings/switches.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { callerOf } from './operation.ts';
import type { KeyPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Throws Forbidden for a secret that the caller chose, when the settings allow only generated secrets. */
export function assertMayChooseSecret({ platform }: Scope<KeyPlatform>, chosen: string | null): void {
  if (chosen === null || !isSwitchedOn(platform.configuration, 'disable_custom_api_keys')) return;
  throw keyOwnerRefusal('Custom API key values are disabled by your administrator. Keys must be auto-generated.');
}

/** Throws Forbidden for administrators of an organization, when the settings do not let them create keys. */
export async function assertMayGenerate(scope: Scope<KeyPlatform>): Promise<void> {
  const { configuration, stores } = scope.platform;
  const { role, userId } = callerOf(scope);
  const user = nullIfBlank(userId);
  if (role === 'proxy_admin' || user === null) return;
  if (!isSwitchedOn(configuration, 'disable_key_generate_for_org_admin')) return;
  const memberships = await stores.organizationMembers.all({ organizationIds: null, userIds: [user] });
  if (memberships.some((one) => one.role === 'org_admin'))
    throw keyOwnerRefusal('Key generation by organization admins is disabled by your administrator.');
}
