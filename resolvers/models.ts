import { visibilityOf } from '../src/domain/caller.ts';
import { type ModelInfo, modelInfos } from '../src/domain/deployments/model-info.ts';
import { type NamedModel, namedModel, namedModels } from '../src/domain/deployments/model-names.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Filter of models. */
interface ModelListDraft {
  readonly withWildcards: boolean;
  /** Team whose models to list; null for those of the caller's key. */
  readonly teamId?: string | null;
  /** Lists access groups instead of models; there are none. */
  readonly onlyGroups?: boolean;
}

/** Models that the caller's key may call, by public name, in configured order. */
export const listModels = operation({
  name: 'listModels',
  access: anyKey,
  run(
    scope: Scope<DeploymentPlatform>,
    { withWildcards, teamId = null, onlyGroups = false }: ModelListDraft,
  ): readonly NamedModel[] {
    const { gateway, catalog } = scope.platform;
    if (teamId !== null && teamId !== callerOf(scope).teamId) {
      const message = "/models: The parameter 'team_id' cannot be honoured: no team has models of its own.";
      throw new InvalidInput(message, [{ path: ['query', 'team_id'], rule: 'unsupported', message }]);
    }
    if (onlyGroups) return [];
    return namedModels(gateway.deployments(), catalog.current(), { key: callerOf(scope).key, withWildcards });
  },
});

/** One model by its public name. Throws NotFound when it does not exist or the caller's key may not call it. */
export const getModel = operation({
  name: 'getModel',
  access: anyKey,
  run(scope: Scope<DeploymentPlatform>, { id }: { readonly id: string }): NamedModel {
    const { gateway, catalog } = scope.platform;
    const found = namedModel(gateway.deployments(), catalog.current(), { key: callerOf(scope).key, name: id });
    if (found !== null) return found;
    throw new NotFound('listed model', id, `The model \`${id}\` does not exist or you do not have access to it.`);
  },
});

/** Facts of a deployment under one of its names. */
export interface KnownModel extends ModelInfo {
  /** Whether the caller sees its address; administrators only. */
  readonly seesAddress: boolean;
}

/** Filter of the deployments that the caller's key may call; null and false match all. */
export interface ModelInfoDraft {
  readonly deploymentId: string | null;
  readonly group: string | null;
  /** Excludes failing deployments. */
  readonly onlyHealthy: boolean;
}

/**
 * Facts of the deployments that the caller's key may call. Throws InvalidInput for the id of another deployment.
 */
export const listModelInfo = operation({
  name: 'listModelInfo',
  access: anyKey,
  run(scope: Scope<DeploymentPlatform>, { deploymentId, group, onlyHealthy }: ModelInfoDraft): readonly KnownModel[] {
    const { gateway, catalog } = scope.platform;
    const caller = callerOf(scope);
    const seesAddress = visibilityOf(caller).kind === 'all';
    const named = modelInfos(gateway.deployments(), catalog.current(), caller.key).filter(
      ({ name, deployment }) =>
        (deploymentId === null || deployment.id === deploymentId) && (group === null || name === group),
    );
    if (deploymentId !== null && named.length === 0) {
      const message = `/model/info: Model id = ${deploymentId} not found on litellm proxy`;
      throw new InvalidInput(message, [{ path: ['query', 'litellm_model_id'], rule: 'value', message }]);
    }
    const isShown = ({ deployment }: ModelInfo): boolean =>
      !onlyHealthy || gateway.healthOf(deployment.id).state !== 'failing';
    return named.filter(isShown).map((one) => ({ ...one, seesAddress }));
  },
});
