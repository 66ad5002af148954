import { type CountsByClass, FAILURE_CLASSES } from '../../domain/routing/failure-class.ts';
import type { FallbackLists, RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import type { SettingValues } from './table.ts';

type Numbers = Readonly<Record<string, number>>;
type Lists = Readonly<Record<string, readonly string[]>>;

/** Counts by failure class. In the configuration, `ending` follows the name of each class. */
export function countsOf(numbers: Numbers | null | undefined, ending: 'Retries' | 'AllowedFails'): CountsByClass {
  const names = [...FAILURE_CLASSES, 'Default'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const count = numbers?.[`${name}${ending}`];
      return count === undefined ? [] : [[name, count]];
    }),
  );
}

const listsOf = (...candidates: readonly (Lists | null)[]): FallbackLists =>
  new Map(Object.entries(candidates.find((lists) => lists !== null) ?? {}));

/** Retries, cooldowns and fallbacks as the gateway uses them. */
export function routingOf(values: SettingValues): RoutingPolicy {
  const { groupRetryPolicy } = values;
  return {
    retries: values.routerRetries ?? values.retries,
    retryAfterSeconds: values.retryAfterSeconds,
    retriesOf: countsOf(values.retryPolicy, 'Retries'),
    retriesOfGroup: new Map(
      Object.entries(groupRetryPolicy ?? {}).map(([model, counts]) => [model, countsOf(counts, 'Retries')]),
    ),
    cooldowns: {
      isOff: values.disableCooldowns,
      seconds: values.cooldownSeconds,
      allowedFails: values.allowedFails,
      allowedFailsOf: countsOf(values.allowedFailsPolicy, 'AllowedFails'),
    },
    fallbacks: {
      general: listsOf(values.routerFallbacks, values.fallbacks),
      contextWindow: listsOf(values.routerContextWindowFallbacks, values.contextWindowFallbacks),
      contentPolicy: listsOf(values.routerContentPolicyFallbacks, values.contentPolicyFallbacks),
      standard: values.defaultFallbacks,
      most: values.maxFallbacks,
      checksAccess: values.enforceFallbackModelAccess,
    },
  };
}
