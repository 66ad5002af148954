import { DomainError } from '../errors.ts';
import { chainOf, policiesInForce, type Policy, type PolicyRules, rulesOfEntry } from './policy.ts';

/** A fault of a policy that was checked. */
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

interface Surroundings {
  /** Whether a guardrail exists. */
  readonly knows: (guardrail: string) => boolean;
  /** Existing policies, which may be parents. */
  readonly others: readonly Policy[];
  /** A fault of the rules themselves, such as a wrong expression; null without one. */
  readonly assertRules: (policy: Policy) => string | null;
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

function guardrailFaults({ name, guardrailsAdd, guardrailsRemove, pipeline }: Policy, knows: Surroundings['knows']) {
  const faultsIn = (field: string, names: readonly string[]): readonly PolicyFault[] =>
    names
      .filter((one) => !knows(one))
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

/** Faults of policies by name, as the configuration file has them. */
export function policyFaults(
  entries: Readonly<Record<string, unknown>>,
  { knows, others, assertRules }: Surroundings,
): PolicyCheck {
  const errors: PolicyFault[] = [];
  const warnings: PolicyFault[] = [];
  const policies: Policy[] = [];
  const fault = (policyName: string, kind: PolicyFault['kind'], message: string, field: string | null): void =>
    void errors.push({ policyName, kind, message, field, value: null });
  for (const [name, entry] of Object.entries(entries)) {
    try {
      policies.push(policyFrom(name, rulesOfEntry(entry)));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      fault(name, 'invalid_syntax', error.message, null);
    }
  }
  const names = new Set(policies.map(({ name }) => name));
  const inForce = policiesInForce([...others.filter(({ name }) => !names.has(name)), ...policies]);
  for (const policy of policies) {
    const found = guardrailFaults(policy, knows);
    errors.push(...found.errors);
    warnings.push(...found.warnings);
    const chain = chainOf(policy, inForce);
    if (typeof chain === 'string')
      fault(policy.name, chain.includes('cycle') ? 'circular_inheritance' : 'invalid_inheritance', chain, 'inherit');
    else {
      const wrong = assertRules({ ...policy, inherit: null });
      if (wrong !== null) fault(policy.name, 'invalid_syntax', wrong, null);
    }
  }
  return { errors, warnings };
}
