import { type NamedModel, namedModel, namedModels } from '../src/domain/deployments/model-names.ts';
import { NotFound } from '../src/domain/errors.ts';
import { anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';

/** The models the caller's key may call, by their public names, in the order of the configuration. */
export const listModels = operation({
  name: 'listModels',
  access: anyKey,
  run(scope, { withWildcards }: { readonly withWildcards: boolean }): readonly NamedModel[] {
    const { gateway, catalog } = scope.platform;
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
