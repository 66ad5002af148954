import type { ToolPolicies } from '../domain/tools/tool-policies.ts';
import type { Stores } from '../persistence/stores.ts';
import { createToolPolicies } from '../runtime/tools/tool-policies.ts';

/** The stored policies of tools. */
export async function composeToolPolicies(stores: Pick<Stores, 'tools' | 'toolOverrides'>): Promise<ToolPolicies> {
  const policies = createToolPolicies({ tools: stores.tools, overrides: stores.toolOverrides });
  await policies.refresh();
  return policies;
}
