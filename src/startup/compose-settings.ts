import type { Incoming } from '../../rest-shims/helpers/http/outgoing.ts';
import type { Bus } from '../domain/bus.ts';
import { settingViewOf } from '../domain/settings/ownership.ts';
import type { Stores } from '../persistence/stores.ts';
import { systemClock } from '../runtime/clock.ts';
import { createClientAddresses } from '../runtime/network/client-network.ts';
import { createConfiguration, type RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import { createSealedSettings } from '../runtime/stored-settings/sealed-settings.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { StartContext } from './context.ts';
import { renewSecrets } from './renew-secrets.ts';

const VARIABLES = 'environment_variables';

/** Returns the address that a request comes from. */
type AddressOf = ReturnType<typeof createClientAddresses>;

export interface ComposedSettings {
  /** The settings of the process, with those stored settings that take effect at the start. */
  readonly settings: Settings;
  /** The stores, with encrypted settings. */
  readonly stores: Stores;
  readonly configuration: RunningConfiguration;
  readonly addressOf: AddressOf;
  /** Applies stored variables. Returns whether one that the process uses has changed. */
  readonly readVariables: () => boolean;
  /** Throws Forbidden for a request from an address that may not call. */
  readonly admit: (request: Pick<Incoming, 'headers' | 'socket'>) => void;
}

/** The configuration file and the stored settings beside it. */
export async function composeSettings(
  { settings, log }: StartContext,
  { stores: unsealed, bus }: { readonly stores: Stores; readonly bus: Bus },
): Promise<ComposedSettings> {
  await renewSecrets({ settings, log }, unsealed);
  const stores = { ...unsealed, settings: createSealedSettings(unsealed.settings, settings.adminSecrets) };
  const configuration = createConfiguration({
    declared: settings.config,
    store: stores.settings,
    storesModels: settings.storesModels,
    cacheServer: settings.cacheServer,
  });
  const readVariables = (): boolean => settings.environment.store(configuration.stored().get(VARIABLES) ?? {});
  await configuration.refresh();
  readVariables();
  configuration.onChange((changed) => bus.publish('settingsChange', { at: systemClock.now(), changed }));
  const addressOf = createClientAddresses(settings.trustedProxies);
  return {
    settings: settings.withStored(
      (name) => settingViewOf(settings.config, configuration.stored(), 'general_settings', name).effectiveValue,
    ),
    stores,
    configuration,
    addressOf,
    readVariables,
    admit: ({ headers, socket }) =>
      configuration.allowedAddresses.assertAllowed(() =>
        addressOf(socket.remoteAddress, headers['x-forwarded-for']?.toString()),
      ),
  };
}
