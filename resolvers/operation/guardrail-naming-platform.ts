import type { Guardrails } from '../../src/domain/guardrails/guardrails.ts';
import type { Policies } from '../../src/domain/policies/policies.ts';

/** Guardrails and policies that keys, teams and projects may name. */
export interface GuardrailNamingPlatform {
  readonly guardrails: Pick<Guardrails, 'list'>;
  readonly policies: Pick<Policies, 'list'>;
}
