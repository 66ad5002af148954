import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import { EMBEDDINGS } from '../../domain/inference/endpoint.ts';
import type { Route } from '../routing/route.ts';
import type { CallGuard, Guards } from './guarding.ts';

/** Selects the guardrails of a model call; null when no guardrail can run. Throws as `Guards.open`. */
type GuardOf = (caller: Caller, request: ModelRequest, route: Route) => CallGuard | null;

/**
 * Creates a check whether any deployment names a guardrail. The result is cached until the list of deployments changes.
 */
function createDeploymentCheck(deployments: () => readonly Deployment[]): () => boolean {
  let checkedList: readonly Deployment[] | null = null;
  let isNamed = false;
  return () => {
    const list = deployments();
    if (list !== checkedList) {
      checkedList = list;
      isNamed = list.some(({ guardrails }) => guardrails !== undefined && guardrails.length > 0);
    }
    return isNamed;
  };
}

/** `guards` is null for a gateway without guardrails. */
export function createGuardOf(guards: Guards | null, deployments: () => readonly Deployment[]): GuardOf {
  if (guards === null) return () => null;
  const isNamedByDeployment = createDeploymentCheck(deployments);

  return (caller, request, route) => {
    if (request.unguarded === true) return null;
    const { guardrails, policies, reportsGuardrails, endpoint, model, labels } = request;
    const { key } = caller;
    const isNamedByRequest = guardrails !== undefined || policies !== undefined;
    const isAnyNamed = isNamedByRequest || (key !== null && namesGuardrails(key)) || isNamedByDeployment();
    if (guards.isIdle() && !isAnyNamed && reportsGuardrails !== true) return null;
    const guard = guards.open({
      caller,
      model,
      labels,
      policies,
      ...(guardrails === undefined ? {} : { named: guardrails }),
      configured: route.deployment.guardrails ?? [],
      isEmbedding: endpoint.path === EMBEDDINGS.path,
    });
    // Else a fallback to a deployment that names guardrails, or to a model with policies, would run without them.
    const isNeeded = !guard.isIdle() || reportsGuardrails === true || guards.hasPolicies() || isNamedByDeployment();
    return isNeeded ? guard : null;
  };
}
