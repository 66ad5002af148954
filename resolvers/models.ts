import { NotFound } from '../src/domain/errors.ts';
import { mayCall } from '../src/domain/keys/virtual-key.ts';
import { anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';

/** Public model names the caller's key may call, in the order of the configuration. */
export const listModels = operation({
  name: 'listModels',
  access: anyKey,
  run(scope, _input: undefined): readonly string[] {
    const { key } = callerOf(scope);
    const names = new Set(scope.platform.gateway.deployments().map(({ modelGroup }) => modelGroup));
    return [...names].filter((name) => mayCall(key, name));
  },
});

/** One public model name. Throws NotFound when it does not exist or the caller's key may not call it. */
export const getModel = operation({
  name: 'getModel',
  access: anyKey,
  run(scope, { id }: { readonly id: string }): string {
    if (listModels(scope, undefined).includes(id)) return id;
    throw new NotFound('listed model', id, `The model \`${id}\` does not exist or you do not have access to it.`);
  },
});
