import { InvalidInput } from '../../src/domain/errors.ts';
import type { PolicyRules } from '../../src/domain/policies/policy.ts';
import { type Access, tenantAdmin, tenantViewer } from './access.ts';
import type { PolicyPlatform } from './policy-platform.ts';

/** Proxy administrators, for policies and their attachments. */
export const policyAdmin: Access = {
  name: 'policyAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for policies and their attachments. */
export const policyViewer: Access = {
  name: 'policyViewer',
  description: 'Proxy administrators with full or read-only access.',
  check: tenantViewer.check,
};

/**
 * Throws InvalidInput when the rules name a guardrail that does not exist. In force, such rules would refuse every call
 * to which the policy applies.
 */
export function assertGuardrailsExist(
  { activeGuardrails }: Pick<PolicyPlatform, 'activeGuardrails'>,
  { guardrailsAdd, pipeline }: PolicyRules,
): void {
  const known = new Set(activeGuardrails.current().map(({ definition }) => definition.name));
  const named = [...guardrailsAdd, ...(pipeline?.steps ?? []).map(({ guardrail }) => guardrail)];
  const unknown = named.find((name) => !known.has(name));
  if (unknown !== undefined) throw new InvalidInput(`The guardrail '${unknown.slice(0, 256)}' does not exist.`);
}
