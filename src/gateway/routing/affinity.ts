import type { ModelRequest } from '../../domain/chat/chat.ts';
import { SESSION } from '../../domain/calls/call-labels.ts';
import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { SelectionCheck } from '../../domain/routing/selection-policy.ts';

/** Deployments that keys and sessions stay at. Each process keeps its own. */
export interface Affinities {
  /** The deployment that a key stays at; null without one. */
  of(claim: string): string | null;
  /** Sets the deployment of a key, unless it has one. */
  claim(claim: string, deploymentId: string, seconds: number): void;
  /** Sets the deployment of a key, in place of an earlier one. */
  replace(claim: string, deploymentId: string, seconds: number): void;
}

/** Longest session id that is kept, in characters. */
const MAX_SESSION_CHARACTERS = 512;
/** Maximum number of claims. The oldest is evicted. */
const MAX_CLAIMS = 100_000;

export function createAffinities(clock: Clock): Affinities {
  const claims = new Map<string, { readonly deploymentId: string; readonly untilMs: number }>();

  function of(claim: string): string | null {
    const found = claims.get(claim);
    if (found === undefined) return null;
    if (found.untilMs > clock.monotonicMs()) return found.deploymentId;
    claims.delete(claim);
    return null;
  }

  function replace(claim: string, deploymentId: string, seconds: number): void {
    // A map keeps the place of a replaced entry. The entry is new, so that it is evicted last.
    claims.delete(claim);
    claims.set(claim, { deploymentId, untilMs: clock.monotonicMs() + seconds * 1000 });
    evictOldest(claims, MAX_CLAIMS);
  }

  return {
    of,
    replace,
    claim(claim, deploymentId, seconds) {
      if (of(claim) === null) replace(claim, deploymentId, seconds);
    },
  };
}

/** Names of the claims of a call: of its session, then of its key. Empty where no check applies. */
export function claimsOf(
  checks: ReadonlySet<SelectionCheck>,
  model: string,
  { owner, labels }: Pick<ModelRequest, 'owner' | 'labels'>,
): readonly string[] {
  const session = labels?.[SESSION];
  const claims: string[] = [];
  if (checks.has('session_affinity') && session !== undefined && session.length <= MAX_SESSION_CHARACTERS)
    claims.push(JSON.stringify(['session', model, owner ?? '', session]));
  if (checks.has('deployment_affinity') && owner !== undefined) claims.push(JSON.stringify(['key', model, owner]));
  return claims;
}
