import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import { EMBEDDINGS } from '../../domain/inference/endpoint.ts';
import type { CallGuard, Guards } from './guarding.ts';
import type { Route } from '../routing/route.ts';

/** Selects the guardrails of model calls; null for a call without any. */
type GuardOf = (caller: Caller, request: ModelRequest, route: Route) => CallGuard | null;

/** Whether any deployment names a guardrail. Computed once for each list of deployments. */
function createNaming(deployments: () => readonly Deployment[]): () => boolean {
  let of: readonly Deployment[] | null = null;
  let names = false;
  return () => {
    const now = deployments();
    if (now !== of) {
      of = now;
      names = now.some(({ guardrails }) => guardrails !== undefined && guardrails.length > 0);
    }
    return names;
  };
}

export function createGuardOf(guards: Guards | null, deployments: () => readonly Deployment[]): GuardOf {
  if (guards === null) return () => null;
  const anyNamed = createNaming(deployments);

  return (caller, request, route) => {
    if (request.unguarded === true) return null;
    const { guardrails, reportsGuardrails, endpoint, model } = request;
    const isIdle = guards.isIdle() && guardrails === undefined && reportsGuardrails !== true;
    const { key } = caller;
    if (isIdle && !anyNamed() && (key === null || !namesGuardrails(key))) return null;
    const guard = guards.open({
      caller,
      model,
      ...(guardrails === undefined ? {} : { named: guardrails }),
      configured: route.deployment.guardrails ?? [],
      isEmbedding: endpoint.path === EMBEDDINGS.path,
    });
    return guard.isIdle() && reportsGuardrails !== true && !anyNamed() ? null : guard;
  };
}
