import { DomainError } from '../errors.ts';
import { inheritanceOf, policiesInForce, type Policy, type PolicyRules, rulesOfEntry } from './policy.ts';

/** A fault of a checked policy. */
export interface PolicyFault {
  readonly policyName: string;
  readonly kind: 'invalid_syntax' | 'invalid_guardrail' | 'invalid_inheritance' | 'circular_inheritance';
  readonly message: string;
  readonly field: string | null;
  readonly value: string | null;
}

export interface PolicyCheck {
  readonly errors: readonly PolicyFault[];
  readonly warnings: readonly PolicyFault[];
}

/** The state of the gateway with which policies are checked. */
interface CheckContext {
  readonly hasGuardrail: (name: string) => boolean;
  /** Existing policies. Checked policies may inherit from them. */
  readonly others: readonly Policy[];
  /** Message for invalid rules, such as a wrong expression in a condition; null for valid rules. */
  readonly ruleFaultOf: (policy: Policy) => string | null;
}

const policyFrom = (name: string, rules: PolicyRules): Policy => ({
  ...rules,
  id: name,
  name,
  version: 1,
  status: 'production',
  parentId: null,
  publishedAt: null,
  productionAt: null,
  isFromConfig: false,
  createdAt: null,
  updatedAt: null,
  createdBy: null,
  updatedBy: null,
});

function guardrailFaults(
  { name, guardrailsAdd, guardrailsRemove, pipeline }: Policy,
  hasGuardrail: CheckContext['hasGuardrail'],
): PolicyCheck {
  const faultsIn = (field: string, names: readonly string[]): readonly PolicyFault[] =>
    names
      .filter((guardrail) => !hasGuardrail(guardrail))
      .map((value) => ({
        policyName: name,
        kind: 'invalid_guardrail',
        message: `Guardrail '${value}' not found in guardrail registry`,
        field,
        value,
      }));
  const steps = pipeline?.steps.map(({ guardrail }) => guardrail) ?? [];
  return {
    errors: [...faultsIn('guardrails.add', guardrailsAdd), ...faultsIn('pipeline.steps', [...new Set(steps)])],
    warnings: faultsIn('guardrails.remove', guardrailsRemove),
  };
}

/** Checks policies. `entries` are entries of the section `policies` of the configuration file, by name. */
export function policyFaults(
  entries: Readonly<Record<string, unknown>>,
  { hasGuardrail, others, ruleFaultOf }: CheckContext,
): PolicyCheck {
  const errors: PolicyFault[] = [];
  const warnings: PolicyFault[] = [];
  const policies: Policy[] = [];
  const addError = (policyName: string, kind: PolicyFault['kind'], message: string, field: string | null): void =>
    void errors.push({ policyName, kind, message, field, value: null });
  for (const [name, entry] of Object.entries(entries)) {
    try {
      policies.push(policyFrom(name, rulesOfEntry(entry)));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      addError(name, 'invalid_syntax', error.message, null);
    }
  }
  const names = new Set(policies.map(({ name }) => name));
  const inForce = policiesInForce([...others.filter(({ name }) => !names.has(name)), ...policies]);
  for (const policy of policies) {
    const ofGuardrails = guardrailFaults(policy, hasGuardrail);
    errors.push(...ofGuardrails.errors);
    warnings.push(...ofGuardrails.warnings);
    const { fault } = inheritanceOf(policy, inForce);
    if (fault !== null) {
      const kind = fault.isCycle ? 'circular_inheritance' : 'invalid_inheritance';
      addError(policy.name, kind, fault.message, 'inherit');
      continue;
    }
    const ruleFault = ruleFaultOf({ ...policy, inherit: null });
    if (ruleFault !== null) addError(policy.name, 'invalid_syntax', ruleFault, null);
  }
  return { errors, warnings };
}
