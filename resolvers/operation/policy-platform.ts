import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { ActiveGuardrails } from '../../src/domain/guardrails/guardrail.ts';
import type { Policies } from '../../src/domain/policies/policies.ts';
import type { Stores } from './stores.ts';

/** Policies, which are named selections of guardrails, and their attachments to calls. */
export interface PolicyPlatform {
  readonly stores: Pick<Stores, 'guardrailUse' | 'keys' | 'teams' | 'projects'>;
  readonly policies: Policies;
  readonly activeGuardrails: Pick<ActiveGuardrails, 'current'>;
  readonly clock: Clock;
  readonly ids: Ids;
}
