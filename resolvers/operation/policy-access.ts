import { InvalidInput } from '../../src/domain/errors.ts';
import type { PolicyRules } from '../../src/domain/policies/policy.ts';
import { type Access, tenantAdmin, tenantViewer } from './access.ts';
import type { PolicyPlatform } from './policy-platform.ts';

/** Proxy administrators, for policies and where they apply. */
export const policyAdmin: Access = {
  name: 'policyAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for policies. */
export const policyViewer: Access = {
  name: 'policyViewer',
  description: 'Proxy administrators with full or read-only access.',
  check: tenantViewer.check,
};

/** Guardrails that rules name, in their list or in their pipeline, and that do not exist; each once. */
function unknownGuardrailsOf(
  { activeGuardrails }: Pick<PolicyPlatform, 'activeGuardrails'>,
  { guardrailsAdd, pipeline }: PolicyRules,
): readonly string[] {
  const known = new Set(activeGuardrails.current().map(({ definition }) => definition.name));
  const named = [...guardrailsAdd, ...(pipeline?.steps.map(({ guardrail }) => guardrail) ?? [])];
  return [...new Set(named)].filter((name) => !known.has(name));
}

/** Throws InvalidInput for rules that name a guardrail that does not exist: calls would be refused. */
export function assertGuardrailsExist(platform: Pick<PolicyPlatform, 'activeGuardrails'>, rules: PolicyRules): void {
  const [unknown] = unknownGuardrailsOf(platform, rules);
  if (unknown !== undefined) throw new InvalidInput(`The guardrail '${unknown.slice(0, 256)}' does not exist.`);
}
