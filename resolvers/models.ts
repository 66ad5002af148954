import { visibilityOf } from '../src/domain/caller.ts';
import { type ModelInfo, modelInfos } from '../src/domain/deployments/model-info.ts';
import { type NamedModel, namedModel, namedModels } from '../src/domain/deployments/model-names.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';

/** Which of the models there are. */
interface ModelListDraft {
  readonly withWildcards: boolean;
  /** A team whose models are meant; null for those of the caller's key. */
  readonly teamId?: string | null;
  /** Names of groups of models, of which there are none, instead of names of models. */
  readonly onlyGroups?: boolean;
}

/** The models the caller's key may call, by their public names, in the order of the configuration. */
export const listModels = operation({
  name: 'listModels',
  access: anyKey,
  run(scope, { withWildcards, teamId = null, onlyGroups = false }: ModelListDraft): readonly NamedModel[] {
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
  run(scope, { id }: { readonly id: string }): NamedModel {
    const { gateway, catalog } = scope.platform;
    const found = namedModel(gateway.deployments(), catalog.current(), { key: callerOf(scope).key, name: id });
    if (found !== null) return found;
    throw new NotFound('listed model', id, `The model \`${id}\` does not exist or you do not have access to it.`);
  },
});

/** What is known of a deployment under one of its names. */
export interface KnownModel extends ModelInfo {
  /** Its address is for administrators only. */
  readonly seesAddress: boolean;
}

/** Which of what the caller's key may call: null and false for no such choice. */
export interface ModelInfoDraft {
  readonly deploymentId: string | null;
  readonly group: string | null;
  /** Leaves out deployments that fail. */
  readonly onlyHealthy: boolean;
}

/**
 * What is known of the deployments that the caller's key may call. Throws InvalidInput for the id of one that is not among
 * them.
 */
export const listModelInfo = operation({
  name: 'listModelInfo',
  access: anyKey,
  run(scope, { deploymentId, group, onlyHealthy }: ModelInfoDraft): readonly KnownModel[] {
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
