import type { ModelRequest } from '../../domain/chat/chat.ts';
import { SESSION } from '../../domain/calls/call-labels.ts';
import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { SelectionCheck } from '../../domain/routing/selection-policy.ts';

/** The deployments at which later calls of a key, a session or a prompt stay. Processes do not share affinities. */
export interface Affinities {
  /** Id of the deployment of an affinity; null for none, and for an expired one. */
  find(name: string): string | null;
  /** Sets the deployment of an affinity for `seconds`, unless the affinity has one. */
  setIfAbsent(name: string, deploymentId: string, seconds: number): void;
  /** Sets the deployment of an affinity for `seconds`, in place of an earlier one. */
  set(name: string, deploymentId: string, seconds: number): void;
}

/** Maximum length of a session id, in characters. A session with a longer id has no affinity. */
const MAX_SESSION_CHARACTERS = 512;
/** Maximum number of affinities. The one that was set first is evicted. */
const MAX_AFFINITIES = 100_000;

export function createAffinities(clock: Clock): Affinities {
  const affinities = new Map<string, { readonly deploymentId: string; readonly expiresAtMs: number }>();

  function find(name: string): string | null {
    const found = affinities.get(name);
    if (found === undefined) return null;
    if (found.expiresAtMs > clock.monotonicMs()) return found.deploymentId;
    affinities.delete(name);
    return null;
  }

  function set(name: string, deploymentId: string, seconds: number): void {
    // A replaced entry would keep its place in the map, and be evicted as an old one.
    affinities.delete(name);
    affinities.set(name, { deploymentId, expiresAtMs: clock.monotonicMs() + seconds * 1_000 });
    evictOldest(affinities, MAX_AFFINITIES);
  }

  return {
    find,
    set,
    setIfAbsent(name, deploymentId, seconds) {
      if (find(name) === null) set(name, deploymentId, seconds);
    },
  };
}

/** Names of the affinities of a call by its session and by its key, in this order. Empty without an affinity check. */
export function affinitiesOfCaller(
  checks: ReadonlySet<SelectionCheck>,
  model: string,
  { owner, labels }: Pick<ModelRequest, 'owner' | 'labels'>,
): readonly string[] {
  const session = labels?.[SESSION];
  const names: string[] = [];
  if (checks.has('session_affinity') && session !== undefined && session.length <= MAX_SESSION_CHARACTERS)
    names.push(JSON.stringify(['session', model, owner ?? '', session]));
  if (checks.has('deployment_affinity') && owner !== undefined) names.push(JSON.stringify(['key', model, owner]));
  return names;
}
