import type { Deployment } from '../chat/provider.ts';
import { Forbidden } from '../errors.ts';
import type { AutoRouter } from './auto-router.ts';

/** Classifiers of which only a limited number of routers may be registered, with their names in messages. */
const GATED = {
  heuristic_v2: 'Heuristic v2',
  capability: 'Capability',
  llm_v2: 'Fuse v2',
} as const;

export type GatedClassifier = keyof typeof GATED;

/** Routers of each gated classifier. Licences of the reference, which lift its limit, are not read. */
const MOST_ROUTERS = 1;

/** The gated classifier of a router; null for a router without a limit. */
export function gatedClassifierOf(router: AutoRouter | undefined): GatedClassifier | null {
  const kind = router?.classifier.kind;
  return kind !== undefined && Object.hasOwn(GATED, kind) ? (kind as GatedClassifier) : null;
}

/** Why the number of routers of a classifier is too high; null where it is not. */
export function overLimitText(kind: GatedClassifier, count: number): string | null {
  if (count <= MOST_ROUTERS) return null;
  const name = GATED[kind];
  return (
    `At most ${MOST_ROUTERS} auto-router(s) with classifier_type '${kind}' (${name}) can be registered but this would make ${count}. ` +
    `Use a different classifier or remove an existing ${name} router. ` +
    "A LiteLLM license with the 'auto_router' feature lifts the limit."
  );
}

/** Throws Forbidden for a router above the limit. `others` are all other registered routers. */
export function assertMayRegister(router: AutoRouter, others: readonly (AutoRouter | undefined)[]): void {
  const kind = gatedClassifierOf(router);
  if (kind === null) return;
  const count = others.filter((other) => gatedClassifierOf(other) === kind).length + 1;
  const text = overLimitText(kind, count);
  if (text !== null) throw new Forbidden(text, 'auto_router', { hasWordsOfReference: true });
}

/**
 * Warnings for routers above the limit that are registered already: those of the configuration file together with
 * stored ones. They stay in use.
 */
export function overLimitWarnings(
  deployments: readonly Pick<Deployment, 'id' | 'modelGroup' | 'autoRouter'>[],
): readonly string[] {
  const byKind = Map.groupBy(deployments, ({ autoRouter }) => gatedClassifierOf(autoRouter));
  return [...byKind].flatMap(([kind, members]) => {
    if (kind === null || members.length <= MOST_ROUTERS) return [];
    const names = members.map(({ modelGroup, id }) => `"${modelGroup}" (${id})`).join(', ');
    return [
      `${members.length} auto routers have the classifier_type '${kind}', of which ${MOST_ROUTERS} can be registered: ${names}. ` +
        'They stay in use, and a further one is refused. Remove the others, or change their classifier.',
    ];
  });
}
