import type { AutoRouter, TierModel } from '../../domain/auto-routers/auto-router.ts';
import { rankOf, type Tier, TIERS } from '../../domain/auto-routers/tiers.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { catalogEntryFor } from '../../domain/deployments/catalog-entry.ts';
import { Forbidden, InvalidInput, Unavailable } from '../../domain/errors.ts';
import type { Route, Router } from '../routing/route.ts';

/** The model that a tier selects, and its route. */
export interface PlacedCall {
  /** Null for the default model. */
  readonly tier: Tier | null;
  readonly model: TierModel;
  readonly route: Route;
  readonly signals: readonly string[];
}

/** Facts of a call that models must fit. */
export interface CallNeeds {
  /** Public name of the router. */
  readonly router: string;
  /** The deployment that stores an object of the call; undefined for none. */
  readonly deploymentId: string | undefined;
  readonly hasImage: boolean;
  /** Estimated tokens of the conversation; null where the router does not compare them. */
  readonly tokens: number | null;
}

/** Why a model does not fit a call; null where it does, or where its abilities are not known. */
type Misfit = 'modality' | 'context' | null;

/** The configured tier that is nearest to a tier: itself, else the next higher one, else the highest one. */
function configuredTier({ tiers }: Pick<AutoRouter, 'tiers'>, tier: Tier): Tier {
  const higher = TIERS.find((one) => rankOf(one) >= rankOf(tier) && tiers.has(one));
  return higher ?? TIERS.findLast((one) => tiers.has(one)) ?? tier;
}

/**
 * Selects a model of a tier that has a deployment and fits the call. Where the tier has none, the higher tiers follow,
 * then the default model. Lower tiers are not used. Throws InvalidInput for an image that no model reads, and
 * Unavailable where no model can be called.
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
    const isCompared = (router.routesByModality && needs.hasImage) || needs.tokens !== null;
    const row = isCompared ? catalogEntryFor(deployment, catalog())?.row : undefined;
    if (row === undefined) return null;
    if (router.routesByModality && needs.hasImage && row['supports_vision'] === false) return 'modality';
    const window = row['max_input_tokens'];
    return needs.tokens !== null && typeof window === 'number' && needs.tokens > window ? 'context' : null;
  }

  function routeTo({ model }: TierModel): Route | null {
    const found = selected(routeOf, model, needs.deploymentId);
    if (found === null || found.deployment.autoRouter !== undefined) return null;
    const misfit = misfitOf(found.deployment);
    if (misfit !== null) misfits.add(misfit);
    return misfit === null ? found : null;
  }

  /** The models of a tier. A pool begins at a random one; a kept model comes first. */
  function modelsOf(tier: Tier): readonly TierModel[] {
    const models = router.tiers.get(tier) ?? [];
    const kept = models.findIndex(({ model }) => model === wanted.model);
    const start = kept === -1 ? Math.floor(random() * models.length) : kept;
    return [...models.slice(start), ...models.slice(0, start)];
  }

  const first = wanted.tier === null ? null : configuredTier(router, wanted.tier);
  const tiers = first === null ? [] : TIERS.filter((one) => rankOf(one) >= rankOf(first) && router.tiers.has(one));
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

/** Signals of a call that did not get the tier of its classifier. */
const movedFrom = (tier: Tier | null, misfits: ReadonlySet<string>): readonly string[] =>
  tier === null ? [] : [`moved_from:${tier}`, ...[...misfits].map((one) => `misfit:${one}`)];

/**
 * The route of a model. Null for a model without one, or whose deployments refuse the call or have no price where
 * prices are required.
 */
function selected(routeOf: Router, model: string, deploymentId: string | undefined): Route | null {
  try {
    const found = routeOf(model, deploymentId);
    return found?.refusal === undefined ? found : null;
  } catch (failure) {
    if (failure instanceof InvalidInput || failure instanceof Forbidden) return null;
    throw failure;
  }
}
