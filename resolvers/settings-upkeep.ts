import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Applies settings that other processes have stored. */
export const refreshSettings = operation({
  name: 'refreshSettings',
  access: system,
  run: ({ platform }: Scope<Pick<SettingsPlatform, 'configuration'>>): Promise<void> =>
    platform.configuration.refresh(),
});
