import type { Policies } from '../domain/policies/policies.ts';
import type { Stores } from '../persistence/stores.ts';
import { createPolicies } from '../runtime/policies/policies.ts';
import type { StartContext } from './context.ts';

/** Policies and their attachments: those of the configuration file, and the stored ones. */
export async function composePolicies(
  { settings }: StartContext,
  stores: Pick<Stores, 'policies' | 'policyAttachments'>,
): Promise<Policies> {
  const policies = createPolicies({
    configured: settings.policies,
    policies: stores.policies,
    attachments: stores.policyAttachments,
  });
  await policies.refresh();
  return policies;
}
