import { type ModelInfo, modelInfos } from '../src/domain/deployments/model-info.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { anyKey, anyone } from './operation/access.ts';
import type { ModelFacts } from './models.ts';
import { operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/model-platform.ts';
import type { Scope } from './operation/scope.ts';

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
    const { publicModels, deployments, catalog, configuration } = platform;
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
