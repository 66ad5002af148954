import type { AutoRouter, TierModel } from '../../domain/auto-routers/auto-router.ts';
import { rankOf, type Tier, TIERS } from '../../domain/auto-routers/tiers.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { catalogEntryFor } from '../../domain/deployments/catalog-entry.ts';
import { Forbidden, InvalidInput, Unavailable } from '../../domain/errors.ts';
import type { Route, Router } from '../routing/route.ts';

/** The selected model of a call, and its route. */
export interface PlacedCall {
  /** Null for the default model. */
  readonly tier: Tier | null;
  readonly model: TierModel;
  readonly route: Route;
  /** Why the call did not get the tier of its classifier; empty for a call that got it. */
  readonly signals: readonly string[];
}

/** What a call requires of a model. */
export interface CallNeeds {
  /** Public name of the router. */
  readonly router: string;
  /** Id of the deployment that stores an object of the call, and must serve it; undefined for none. */
  readonly deploymentId: string | undefined;
  readonly hasImage: boolean;
  /** Estimated tokens of the conversation; null where the router does not compare them with context windows. */
  readonly tokens: number | null;
}

/** Why a model cannot serve a call; null when it can, or when the catalog does not know. */
type Misfit = 'modality' | 'context' | null;

/** The tier itself if it is configured, else the next higher configured tier, else the highest configured tier. */
function configuredTier({ tiers }: Pick<AutoRouter, 'tiers'>, tier: Tier): Tier {
  const configured = TIERS.filter((candidate) => tiers.has(candidate));
  return configured.find((candidate) => rankOf(candidate) >= rankOf(tier)) ?? configured.at(-1) ?? tier;
}

/**
 * Selects a model of the wanted tier that has a route and fits the call. Where no model of the tier does, tries the
 * higher tiers, then the default model. Lower tiers are not used. `wanted.model` is tried first in its tier; without
 * it, a random model is. Throws InvalidInput for images that no model reads, and Unavailable where no model can be
 * called.
 */
export function placeCall(
  router: AutoRouter,
  wanted: { readonly tier: Tier | null; readonly model: string | null },
  {
    routeOf,
    needs,
    catalog,
    random,
  }: {
    readonly routeOf: Router;
    readonly needs: CallNeeds;
    readonly catalog: () => CatalogSnapshot;
    readonly random: () => number;
  },
): PlacedCall {
  const misfits = new Set<string>();

  function misfitOf(deployment: Deployment): Misfit {
    const needsVision = router.routesByModality && needs.hasImage;
    if (!needsVision && needs.tokens === null) return null;
    const row = catalogEntryFor(deployment, catalog())?.row;
    if (row === undefined) return null;
    if (needsVision && row['supports_vision'] === false) return 'modality';
    const window = row['max_input_tokens'];
    return needs.tokens !== null && typeof window === 'number' && needs.tokens > window ? 'context' : null;
  }

  /** The route to a model that fits the call; else null. */
  function routeTo({ model }: TierModel): Route | null {
    const found = routeOrNull(routeOf, model, needs.deploymentId);
    if (found === null || found.deployment.autoRouter !== undefined) return null;
    const misfit = misfitOf(found.deployment);
    if (misfit !== null) misfits.add(misfit);
    return misfit === null ? found : null;
  }

  /** The models of a tier in the order in which they are tried. */
  function modelsOf(tier: Tier): readonly TierModel[] {
    const models = router.tiers.get(tier) ?? [];
    const wantedIndex = models.findIndex(({ model }) => model === wanted.model);
    const start = wantedIndex === -1 ? Math.floor(random() * models.length) : wantedIndex;
    return [...models.slice(start), ...models.slice(0, start)];
  }

  const lowest = wanted.tier === null ? null : configuredTier(router, wanted.tier);
  const tiers = lowest === null ? [] : TIERS.filter((tier) => rankOf(tier) >= rankOf(lowest) && router.tiers.has(tier));
  for (const tier of tiers)
    for (const model of modelsOf(tier)) {
      const route = routeTo(model);
      if (route !== null)
        return { tier, model, route, signals: tier === wanted.tier ? [] : movedFrom(wanted.tier, misfits) };
    }
  if (router.defaultModel !== null) {
    const model = { model: router.defaultModel, members: {} };
    const route = routeTo(model);
    if (route !== null) return { tier: null, model, route, signals: movedFrom(wanted.tier, misfits) };
  }
  if (misfits.has('modality')) {
    const message = `No model of the router '${needs.router}' reads images.`;
    throw new InvalidInput(message, [{ path: ['body', 'model'], rule: 'modality', message }]);
  }
  throw new Unavailable(`No model of the router '${needs.router}' can be called.`, null);
}

/** Signals of a call that does not get the wanted tier. */
const movedFrom = (tier: Tier | null, misfits: ReadonlySet<string>): readonly string[] =>
  tier === null ? [] : [`moved_from:${tier}`, ...[...misfits].map((misfit) => `misfit:${misfit}`)];

/**
 * The route to a model. Null for an unknown model, for a refusal by the rules of its deployments, and for a model
 * without a price where prices are required.
 */
function routeOrNull(routeOf: Router, model: string, deploymentId: string | undefined): Route | null {
  try {
    const found = routeOf(model, deploymentId);
    return found?.refusal === undefined ? found : null;
  } catch (failure) {
    if (failure instanceof InvalidInput || failure instanceof Forbidden) return null;
    throw failure;
  }
}
