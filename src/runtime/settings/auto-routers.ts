import type { Deployment } from '../../domain/chat/provider.ts';
import type { AutoRouter } from '../../domain/auto-routers/auto-router.ts';
import { gatedClassifierOf, overLimitText } from '../../domain/auto-routers/entitlement.ts';
import { readAutoRouter } from '../../domain/auto-routers/read-auto-router.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { Path } from './config-references.ts';

interface RouterEntry {
  readonly model_name: string;
  readonly litellm_params: JsonObject;
}

/**
 * Checks the auto routers of the file. Calls `refuse` for each wrong value, and for more routers of a classifier than
 * may be registered. Calls `warn` for each model that a router names and the file does not have: it may be a stored
 * model.
 */
export function refuseFaultyRouters(
  entries: readonly RouterEntry[],
  deployments: readonly Deployment[],
  { refuse, warn }: { readonly refuse: (path: Path, message: string) => void; readonly warn: (text: string) => void },
): void {
  for (const [index, { model_name: name, litellm_params: params }] of entries.entries())
    for (const { path, message } of readAutoRouter(params, name)?.faults ?? [])
      refuse(['model_list', index, 'litellm_params', ...path], message);
  const routers = deployments.flatMap(({ modelGroup, autoRouter }) =>
    autoRouter === undefined ? [] : [{ modelGroup, autoRouter }],
  );
  if (routers.length === 0) return;
  const byClassifier = Map.groupBy(routers, ({ autoRouter }) => gatedClassifierOf(autoRouter));
  for (const [classifier, members] of byClassifier) {
    const fault = classifier === null ? null : overLimitText(classifier, members.length);
    if (fault !== null) refuse(['model_list'], fault);
  }
  const groups = deployments.map(({ modelGroup }) => modelGroup);
  const isKnown = (model: string): boolean =>
    groups.some((group) => group === model || (group.endsWith('*') && model.startsWith(group.slice(0, -1))));
  for (const { modelGroup, autoRouter } of routers)
    for (const model of modelsOf(autoRouter))
      if (!isKnown(model))
        warn(`The router "${modelGroup}" names the model "${model}", which the configuration file does not have.`);
}

/** Names of all models that a router may call, the model of its classifier included. */
function modelsOf({ tiers, defaultModel, classifier }: AutoRouter): ReadonlySet<string> {
  const models = [...tiers.values()].flat().map(({ model }) => model);
  return new Set([
    ...models,
    ...(defaultModel === null ? [] : [defaultModel]),
    ...('judge' in classifier ? [classifier.judge.model] : []),
  ]);
}
