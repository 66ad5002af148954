import type { Caller } from '../../src/domain/caller.ts';
import {
  assertGuardrails,
  assertPolicies,
  changesRights,
  guardedChanges,
  type MetadataPatch,
  withKeptGuardrails,
} from '../../src/domain/guardrails/guarded-members.ts';
import { type Metadata, guardrailChangeForbidden } from '../../src/domain/guardrails/key-guardrails.ts';
import type { GuardrailNamingPlatform } from './guardrail-naming-platform.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

type GuardrailScope = Scope<GuardrailNamingPlatform>;

/**
 * Checks the guardrails and policies of a new or changed key. Throws InvalidInput for unknown ones. Throws Forbidden
 * when a caller who is not a proxy administrator opts out of guardrails or sets rights about them.
 */
export function assertGuardrailsOfKey({ platform }: GuardrailScope, caller: Caller, patch: MetadataPatch): void {
  assertGuardrails(platform.guardrails.list(), patch);
  assertPolicies(() => platform.policies.list(), patch);
  const adminChanges = guardedChanges({}, patch).filter((name) => name !== 'guardrails');
  if (caller.role !== 'proxy_admin' && adminChanges.length > 0) throw guardrailChangeForbidden();
}

/**
 * Checks the guardrails of a change of a team or of its project. Administrators of a team may change guardrails when
 * the metadata of the team permits it, but not that permission. Returns the change to store: in metadata from a caller
 * who is not a proxy administrator, stored guardrails stay unless the metadata names them. Throws InvalidInput and
 * Forbidden.
 */
export function allowedGuardrails<Patch extends MetadataPatch>(
  scope: GuardrailScope,
  patch: Patch,
  context: {
    /** Metadata of the team; empty for a new one. */
    readonly team: Metadata;
    /** Metadata of the row before the change. */
    readonly before: Metadata;
    /** Whether the row is a team, and not a project. */
    readonly ofTeam: boolean;
  },
): Patch {
  const { team, before, ofTeam } = context;
  assertGuardrails(scope.platform.guardrails.list(), patch, { ofTeam });
  assertPolicies(() => scope.platform.policies.list(), patch);
  if (callerOf(scope).role === 'proxy_admin') return patch;
  const changes = guardedChanges(before, patch);
  const mayChange = team['allow_team_guardrail_config'] === true && !changesRights(before, patch, changes);
  if (changes.length > 0 && !mayChange) throw guardrailChangeForbidden();
  return withKeptGuardrails(before, patch);
}
