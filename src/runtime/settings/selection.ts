import type { JsonObject } from '../../domain/json-object.ts';
import { DEFAULT_LATENCY, DEFAULT_SELECTION, type SelectionPolicy } from '../../domain/routing/selection-policy.ts';
import type { ValueOf } from './setting.ts';
import type { SELECTION_SETTINGS } from './table/selection.ts';

type SelectionValues = {
  readonly [Name in keyof typeof SELECTION_SETTINGS]: ValueOf<(typeof SELECTION_SETTINGS)[Name]>;
};

/** How deployments are selected. `ofOwners` has the router settings of a key and its team. */
export function selectionOf(values: SelectionValues, ofOwners: JsonObject): SelectionPolicy {
  const { routingStrategy: strategy, routingGroups, selectionWeights, optionalPreCallChecks } = values;
  const { enableTagFiltering, enablePreCallChecks, modelGroupAffinity, defaultMaxParallel: maxParallel } = values;
  const isForced = enableTagFiltering && ofOwners['enable_tag_filtering'] === true;
  const hasStrategy = strategy !== 'simple-shuffle' && strategy !== 'lar1';
  const lists = [
    routingGroups ?? [],
    optionalPreCallChecks ?? [],
    Object.keys(selectionWeights ?? {}),
    Object.keys(modelGroupAffinity ?? {}),
  ];
  const hasList = lists.some((list) => list.length > 0);
  return {
    ...DEFAULT_SELECTION,
    isPlain: !hasStrategy && !hasList && !enableTagFiltering && !enablePreCallChecks && maxParallel === null,
    strategy,
    latency: values.routingStrategyArgs ?? DEFAULT_LATENCY,
    groups: routingGroups ?? [],
    weights: new Map(
      Object.entries(selectionWeights ?? {}).map(([model, weights]) => [model, new Map(Object.entries(weights))]),
    ),
    ...(enableTagFiltering ? { tagFiltering: isForced ? 'always' : 'on' } : {}),
    matchesAnyTag: values.tagFilteringMatchAny,
    tagPrefix: values.tagRoutingPrefix,
    failsOver: values.enableWeightedFailover,
    checksCapacity: enablePreCallChecks,
    checks: new Set(optionalPreCallChecks),
    affinityChecksOf: new Map(
      Object.entries(modelGroupAffinity ?? {}).map(([model, checks]) => [model, new Set(checks)]),
    ),
    affinitySeconds: values.affinitySeconds,
    maxParallel,
  };
}
