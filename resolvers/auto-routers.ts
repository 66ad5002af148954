import type { AutoRouter, Classifier } from '../src/domain/auto-routers/auto-router.ts';
import { type Tier, TIERS } from '../src/domain/auto-routers/tiers.ts';
import type { RoutedCalls } from '../src/domain/auto-routers/auto-router-store.ts';
import type { Deployment } from '../src/domain/chat/provider.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { tenantViewer } from './operation/access.ts';
import type { AutoRouterPlatform } from './operation/model-platform.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** An auto router, as administrators see it. */
export interface VisibleRouter {
  /** Id of its deployment. */
  readonly id: string;
  /** Public model name. */
  readonly name: string;
  readonly classifier: Classifier['kind'];
  readonly tiers: readonly { readonly tier: Tier; readonly label: string | null; readonly models: readonly string[] }[];
  readonly defaultModel: string | null;
  /** Model that the classifier asks; null for a local classifier. */
  readonly judge: string | null;
  readonly hasAffinity: boolean;
  readonly isFromConfig: boolean;
}

const visibleRouter = (
  { id, modelGroup: name }: Deployment,
  { classifier, tiers, labels, defaultModel, hasAffinity }: AutoRouter,
  isFromConfig: boolean,
): VisibleRouter => ({
  id,
  name,
  classifier: classifier.kind,
  tiers: TIERS.filter((tier) => tiers.has(tier)).map((tier) => ({
    tier,
    label: labels[tier] ?? null,
    models: (tiers.get(tier) ?? []).map(({ model }) => model),
  })),
  defaultModel,
  judge: 'judge' in classifier ? classifier.judge.model : null,
  hasAffinity,
  isFromConfig,
});

/** Lists the auto routers of the configuration file and of the database. */
export const listAutoRouters = operation({
  name: 'listAutoRouters',
  access: tenantViewer,
  run: ({ platform }: Scope<AutoRouterPlatform>, _input: undefined): readonly VisibleRouter[] =>
    platform.deployments
      .all()
      .flatMap(({ deployment, stored }) =>
        deployment.autoRouter === undefined ? [] : [visibleRouter(deployment, deployment.autoRouter, stored === null)],
      ),
});

/** Default period of `listRoutedCalls`: 30 days, in ms. */
const DEFAULT_PERIOD_MS = 30 * 86_400_000;
/** Maximum number of groups of `listRoutedCalls`. */
const MAX_GROUPS = 1_000;

/**
 * Counts calls by router, tier, cause and model. Without `to`, the period ends now. Without `from`, it begins 30 days
 * before its end. Throws InvalidInput for a period that ends before it starts.
 */
export const listRoutedCalls = operation({
  name: 'listRoutedCalls',
  access: tenantViewer,
  run(
    { platform }: Scope<AutoRouterPlatform>,
    { from, to }: { readonly from: Date | null; readonly to: Date | null },
  ): Promise<readonly RoutedCalls[]> {
    // `toMs` is exclusive. One more millisecond includes the calls that start now.
    const toMs = to?.getTime() ?? platform.clock.now().getTime() + 1;
    const fromMs = from?.getTime() ?? toMs - DEFAULT_PERIOD_MS;
    if (fromMs > toMs) throw new InvalidInput('The period ends before it starts.');
    return platform.stores.autoRouters.routedCalls({ fromMs, toMs }, MAX_GROUPS);
  },
});

/** Always throws NotFound, as the reference does without an adaptive router: adaptive routers are not supported. */
export const getAdaptiveState = operation({
  name: 'getAdaptiveState',
  access: tenantViewer,
  run(_scope: Scope<object>, _input: undefined): never {
    throw new NotFound('adaptive router', 'adaptive_router', 'No adaptive_router is configured on this proxy.');
  },
});

/** Always empty: comparisons of classifiers on recorded calls are not supported. */
export const listShadowEvaluations = operation({
  name: 'listShadowEvaluations',
  access: tenantViewer,
  run: (_scope: Scope<object>, _input: undefined): readonly never[] => [],
});
