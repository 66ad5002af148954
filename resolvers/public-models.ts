import { type ModelInfo, modelInfos } from '../src/domain/deployments/model-info.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { assertWritable } from '../src/domain/settings/ownership.ts';
import {
  assertLinks,
  HUB_LINKS,
  HUB_SECTION,
  hubLinksIn,
  PUBLIC_MODELS,
  publicModelsIn,
} from '../src/domain/settings/public-hub.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { anyKey, anyone, tenantAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import type { ModelFacts } from './models.ts';
import { operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/model-platform.ts';
import type { SettingsPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertStoresSettings, settingsState, storeSettings } from './operation/settings-state.ts';

/** A page of public models, each with its name and its deployments. */
export interface PublicModelPage {
  readonly models: readonly (readonly [name: string, deployments: readonly ModelFacts[]])[];
  readonly total: number;
}

/**
 * Lists the models of `public_model_groups` that exist, in the order of the deployments. Addresses are not shown.
 * Throws Unauthenticated without a key where `require_auth_for_public_ai_hub` is on.
 */
export const listPublicModels = operation({
  name: 'listPublicModels',
  access: anyone,
  run(
    { platform, caller }: Scope<DeploymentPlatform>,
    { page, size }: { readonly page: number; readonly size: number },
  ): PublicModelPage {
    const { deployments, catalog, configuration } = platform;
    const publicModels = publicModelsIn(configuration.current(), configuration.stored());
    if (isSwitchedOn(configuration, 'require_auth_for_public_ai_hub')) anyKey.check(caller);
    const found: readonly ModelInfo[] =
      publicModels.length === 0
        ? []
        : modelInfos(deployments.all(), catalog.current(), null).filter(({ name }) => publicModels.includes(name));
    const groups = [
      ...Map.groupBy(
        found.map((one) => ({ ...one, seesAddress: false })),
        ({ name }) => name,
      ),
    ];
    // A page of the size `Infinity` has all models.
    const from = size === Infinity ? 0 : (page - 1) * size;
    return { models: groups.slice(from, from + size), total: groups.length };
  },
});

type HubSettingsScope = Scope<SettingsPlatform & Pick<DeploymentPlatform, 'deployments' | 'catalog'>>;

/** Stores a setting of the list. Throws OwnedByFile, and Unsupported while settings are not stored. */
async function storeHubSetting(scope: HubSettingsScope, name: string, value: unknown): Promise<void> {
  assertStoresSettings(scope);
  const { config, stored } = await settingsState(scope);
  assertWritable(config, stored, { section: HUB_SECTION, writes: [{ name, value }] });
  await storeSettings(scope, HUB_SECTION, (content) => ({ ...content, [name]: value }));
}

/**
 * Shows these models to everyone, and hides all others. Changes nothing when a model is unknown. Throws NotFound,
 * OwnedByFile when the configuration file declares another list, and Unsupported while settings are not stored.
 */
export const publishModels = operation({
  name: 'publishModels',
  access: tenantAdmin,
  async run(
    scope: HubSettingsScope,
    { models }: { readonly models: readonly string[] },
  ): Promise<{ readonly models: readonly string[]; readonly by: string }> {
    const { deployments, catalog } = scope.platform;
    const known = new Set(modelInfos(deployments.all(), catalog.current(), null).map(({ name }) => name));
    const unknown = models.find((name) => !known.has(name));
    if (unknown !== undefined)
      throw new NotFound('model', unknown, `Model '${unknown.slice(0, 256)}' not found. No model was published.`);
    await storeHubSetting(scope, PUBLIC_MODELS, models);
    return { models, by: authored(scope).by };
  },
});

/**
 * Replaces the links of the list of public models, by title. Throws InvalidInput, OwnedByFile when the configuration
 * file declares other links, and Unsupported while settings are not stored.
 */
export const updateHubLinks = operation({
  name: 'updateHubLinks',
  access: tenantAdmin,
  async run(scope: HubSettingsScope, { links }: { readonly links: JsonObject }): Promise<JsonObject> {
    assertLinks(links);
    await storeHubSetting(scope, HUB_LINKS, links);
    return links;
  },
});

/** Reads the links of the list of public models, by title. */
export const getHubLinks = operation({
  name: 'getHubLinks',
  access: anyone,
  run: (
    { platform: { configuration } }: Scope<Pick<SettingsPlatform, 'configuration'>>,
    _input: undefined,
  ): JsonObject => hubLinksIn(configuration.current(), configuration.stored()),
});
