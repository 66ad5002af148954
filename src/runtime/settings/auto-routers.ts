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
 * Reports the faults of the routers of the file, and more routers of a classifier than may be registered. Warns of
 * models that the file does not have, because they may be stored ones.
 */
export function refuseFaultyRouters(
  entries: readonly RouterEntry[],
  deployments: readonly Deployment[],
  about: {
    readonly refuse: (path: Path, message: string) => void;
    readonly warn: (text: string) => void;
  },
): void {
  for (const [index, { model_name: name, litellm_params: params }] of entries.entries())
    for (const { path, message } of readAutoRouter(params, name)?.faults ?? [])
      about.refuse(['model_list', index, 'litellm_params', ...path], message);
  const routers = deployments.filter(({ autoRouter }) => autoRouter !== undefined);
  if (routers.length === 0) return;
  const byKind = Map.groupBy(routers, ({ autoRouter }) => gatedClassifierOf(autoRouter));
  for (const [kind, members] of byKind) {
    const text = kind === null ? null : overLimitText(kind, members.length);
    if (text !== null) about.refuse(['model_list'], text);
  }
  const groups = deployments.map(({ modelGroup }) => modelGroup);
  const isKnown = (model: string): boolean =>
    groups.some((group) => group === model || (group.endsWith('*') && model.startsWith(group.slice(0, -1))));
  for (const { modelGroup, autoRouter } of routers)
    for (const model of autoRouter === undefined ? [] : modelsOf(autoRouter))
      if (!isKnown(model))
        about.warn(
          `The router "${modelGroup}" names the model "${model}", which the configuration file does not have.`,
        );
}

/** Names of all models that a router calls. */
function modelsOf({ tiers, defaultModel, classifier }: AutoRouter): ReadonlySet<string> {
  const models = [...tiers.values()].flat().map(({ model }) => model);
  return new Set([
    ...models,
    ...(defaultModel === null ? [] : [defaultModel]),
    ...('judge' in classifier ? [classifier.judge.model] : []),
  ]);
}
