import type { Deployment } from '../chat/provider.ts';
import { Forbidden } from '../errors.ts';
import type { AutoRouter } from './auto-router.ts';

/** Gated classifiers: only `MAX_ROUTERS` routers of each may be registered. The values are their names in messages. */
const GATED = {
  heuristic_v2: 'Heuristic v2',
  capability: 'Capability',
  llm_v2: 'Fuse v2',
} as const;

export type GatedClassifier = keyof typeof GATED;

/** Maximum number of routers per gated classifier. A licence of the reference does not lift this limit here. */
const MAX_ROUTERS = 1;

/** The classifier of a router if it is gated, else null. */
export function gatedClassifierOf(router: AutoRouter | undefined): GatedClassifier | null {
  const kind = router?.classifier.kind;
  return kind !== undefined && Object.hasOwn(GATED, kind) ? (kind as GatedClassifier) : null;
}

/** Error message for `count` routers of a gated classifier; null when so many may be registered. */
export function overLimitText(kind: GatedClassifier, count: number): string | null {
  if (count <= MAX_ROUTERS) return null;
  const name = GATED[kind];
  return (
    `At most ${MAX_ROUTERS} auto-router(s) with classifier_type '${kind}' (${name}) can be registered but this would make ${count}. ` +
    `Use a different classifier or remove an existing ${name} router. ` +
    "A LiteLLM license with the 'auto_router' feature lifts the limit."
  );
}

/**
 * Throws Forbidden for a router with a gated classifier when `others` has `MAX_ROUTERS` routers with this classifier.
 * `others` are all other registered routers.
 */
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
    if (kind === null || members.length <= MAX_ROUTERS) return [];
    const names = members.map(({ modelGroup, id }) => `"${modelGroup}" (${id})`).join(', ');
    return [
      `${members.length} auto routers have the classifier_type '${kind}', of which ${MAX_ROUTERS} can be registered: ${names}. ` +
        'They stay in use, and a further one is refused. Remove the others, or change their classifier.',
    ];
  });
}
