import { Conflict, NotFound } from '../src/domain/errors.ts';
import { ALLOWED_ADDRESSES, allowedList } from '../src/domain/settings/allowed-addresses.ts';
import { assertRemovable, GENERAL } from '../src/domain/settings/ownership.ts';
import type { SectionContent } from '../src/domain/settings/stored-section.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertStoresSettings, settingsState, storeSettings } from './operation/settings-state.ts';
import { assertAddress, assertCovered } from './operation/allowed-addresses.ts';

/** The addresses that may call; null when every address may. */
export const listAllowedAddresses = operation({
  name: 'listAllowedAddresses',
  access: tenantViewer,
  async run(scope: Scope<SettingsPlatform>): Promise<readonly string[] | null> {
    const { config, stored } = await settingsState(scope);
    return allowedList(config, stored);
  },
});

/**
 * Adds an address or a block of addresses to the list. The first entry creates the list, which refuses all other
 * addresses. Throws InvalidInput for text that is no address or block, and for a list that would refuse the caller.
 * Throws Conflict for an entry that is in the list. Throws OwnedByFile when the configuration file declares the list,
 * and Unsupported while settings are not stored.
 */
export const allowAddress = operation({
  name: 'allowAddress',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, { address }: { readonly address: string }): Promise<void> {
    assertStoresSettings(scope);
    assertAddress(scope, address);
    const { config, stored } = await settingsState(scope);
    if (allowedList(config, stored)?.includes(address) === true) throw new Conflict('IP address already exists');
    // Nothing is removed here: the check also throws OwnedByFile for a list that the configuration file declares.
    assertRemovable(config, stored, GENERAL, ALLOWED_ADDRESSES);
    await storeList(scope, (list) => [...list.filter((one) => one !== address), address]);
  },
});

/**
 * Removes an entry from the list. Removing the last entry removes the list: every address may call again. Also works
 * while settings are not stored, because a list that was stored before stays in force. Throws NotFound, OwnedByFile,
 * and InvalidInput for a list that would refuse the caller.
 */
export const disallowAddress = operation({
  name: 'disallowAddress',
  access: tenantAdmin,
  async run(scope: Scope<SettingsPlatform>, { address }: { readonly address: string }): Promise<void> {
    const { config, stored } = await settingsState(scope);
    if (allowedList(config, stored)?.includes(address) !== true)
      throw new NotFound('address', address, 'IP address not found');
    assertRemovable(config, stored, GENERAL, ALLOWED_ADDRESSES);
    await storeList(scope, (list) => list.filter((one) => one !== address));
  },
});

/** Stores the changed list. An empty list is removed. Throws InvalidInput for a list that would refuse the caller. */
async function storeList(
  scope: Scope<SettingsPlatform>,
  change: (list: readonly string[]) => readonly string[],
): Promise<void> {
  await storeSettings(scope, GENERAL, (content: SectionContent) => {
    const stored = content[ALLOWED_ADDRESSES];
    const list = change(Array.isArray(stored) ? stored.map(String) : []);
    if (list.length === 0) {
      const { [ALLOWED_ADDRESSES]: _removed, ...rest } = content;
      return rest;
    }
    assertCovered(scope, list);
    return { ...content, [ALLOWED_ADDRESSES]: list };
  });
}
