import {
  assertTargets,
  type FallbackDraft,
  fallbackId,
  type FallbackType,
  listsFor,
  newFallback,
} from '../src/domain/fallbacks/fallback.ts';
import { matchesGroup } from '../src/domain/deployments/model-names.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { system, tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { FallbackPlatform } from './operation/model-platform.ts';
import { changeOrAdd } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { assertStoresModels } from './operation/stored-models.ts';

type FallbackScope = Scope<FallbackPlatform>;

/** The fallbacks of a model for one kind of failure. */
export interface FallbackView extends FallbackDraft {
  /** Whether the configuration file declares them. Then they cannot be changed at run time. */
  readonly isConfigured: boolean;
}

/** Fallbacks that were stored, and whether the model had none before. */
export interface StoredFallback extends FallbackView {
  readonly isNew: boolean;
}

/** A model, and the kind of failure that its fallbacks handle. */
export interface ChosenFallback {
  readonly model: string;
  readonly type: FallbackType;
}

const noFallback = ({ model, type }: ChosenFallback): NotFound =>
  new NotFound('fallback', fallbackId(model, type), `No ${type} fallbacks configured for model '${model}'`);

/** Whether fallbacks apply to the model, from any source. */
const isInForce = ({ platform }: FallbackScope, { model, type }: ChosenFallback): boolean =>
  listsFor(platform.fallbacks.policy().fallbacks, type).has(model);

/** Error for fallbacks that are part of a stored setting. */
const ofSetting = ({ model, type }: ChosenFallback): InvalidInput =>
  new InvalidInput(`The ${type} fallbacks of the model '${model}' are part of a stored setting. Change that setting.`);

/** Whether a name selects a deployment: by its public model name, by a wildcard, or by its id. */
const isKnown = ({ platform }: FallbackScope, name: string): boolean =>
  platform.deployments
    .all()
    .some(({ deployment }) => matchesGroup(deployment.modelGroup, name) || deployment.id === name);

function assertNotConfigured({ platform }: FallbackScope, { model, type }: ChosenFallback): void {
  if (platform.fallbacks.isConfigured(model, type))
    throw new InvalidInput(`The ${type} fallbacks of the model '${model}' are set in the configuration file.`);
}

/**
 * Stores the fallbacks of a model in place of earlier ones. Throws Unsupported, NotFound for an unknown model, and
 * InvalidInput for invalid or unknown targets and for fallbacks of the configuration file.
 */
export const setFallback = operation({
  name: 'setFallback',
  access: tenantAdmin,
  async run(scope: FallbackScope, draft: FallbackDraft): Promise<StoredFallback> {
    const { platform } = scope;
    assertStoresModels(scope);
    // The fallbacks of `*` apply to models that have no others.
    if (draft.model !== '*' && !isKnown(scope, draft.model))
      throw new NotFound('model', draft.model, `Model '${draft.model}' not found in router`);
    assertTargets(draft);
    const unknown = draft.targets.filter((target) => !isKnown(scope, target));
    if (unknown.length > 0) throw new InvalidInput(`Fallback models not found in router: ${unknown.join(', ')}`);
    assertNotConfigured(scope, draft);
    const authorship = authored(scope);
    const row = newFallback(draft, authorship);
    const { isNew } = await changeOrAdd(platform.stores.fallbacks, row, (before) => ({
      ...before,
      targets: row.targets,
      updatedAt: authorship.now,
      updatedBy: authorship.by,
    }));
    await platform.fallbacks.refresh();
    return { ...draft, isConfigured: false, isNew };
  },
});

/** Reads the fallbacks of a model that are in force. Throws NotFound when there are none. */
export const getFallback = operation({
  name: 'getFallback',
  access: tenantViewer,
  run({ platform }: FallbackScope, { model, type }: ChosenFallback): FallbackView {
    const targets = listsFor(platform.fallbacks.policy().fallbacks, type).get(model);
    if (targets === undefined) throw noFallback({ model, type });
    return { model, type, targets, isConfigured: platform.fallbacks.isConfigured(model, type) };
  },
});

/** Lists the fallbacks of the given kinds that are in force, in the order of the kinds and then by model. */
export const listFallbacks = operation({
  name: 'listFallbacks',
  access: tenantViewer,
  run({ platform }: FallbackScope, { types }: { readonly types: readonly FallbackType[] }): readonly FallbackView[] {
    const { fallbacks } = platform.fallbacks.policy();
    return types.flatMap((type) =>
      [...listsFor(fallbacks, type)]
        .map(([model, targets]) => ({
          model,
          type,
          targets,
          isConfigured: platform.fallbacks.isConfigured(model, type),
        }))
        .toSorted((left, right) => (left.model < right.model ? -1 : 1)),
    );
  },
});

/**
 * Deletes the stored fallbacks of a model. Throws Unsupported, InvalidInput for fallbacks of the configuration file or
 * of a stored setting, and NotFound.
 */
export const deleteFallback = operation({
  name: 'deleteFallback',
  access: tenantAdmin,
  async run(scope: FallbackScope, chosen: ChosenFallback): Promise<ChosenFallback> {
    const { platform } = scope;
    assertStoresModels(scope);
    assertNotConfigured(scope, chosen);
    const [removed] = await platform.stores.fallbacks.remove([fallbackId(chosen.model, chosen.type)]);
    await platform.fallbacks.refresh();
    if (removed === undefined) throw isInForce(scope, chosen) ? ofSetting(chosen) : noFallback(chosen);
    return chosen;
  },
});

/** Applies changes of stored fallbacks by other processes. */
export const refreshFallbacks = operation({
  name: 'refreshFallbacks',
  access: system,
  async run({ platform }: FallbackScope, _input: undefined): Promise<void> {
    await platform.fallbacks.refresh();
  },
});
