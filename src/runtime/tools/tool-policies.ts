import { ALL_OVERRIDES, ALL_TOOLS, type ToolOverrideStore, type ToolStore } from '../../domain/tools/tool.ts';
import { type ToolPolicies, toolRules } from '../../domain/tools/tool-policies.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

interface ToolPolicyOptions {
  readonly tools: Pick<ToolStore, 'all'>;
  readonly overrides: Pick<ToolOverrideStore, 'all'>;
}

/** The stored policies of tools, in memory. */
export function createToolPolicies({ tools, overrides }: ToolPolicyOptions): ToolPolicies {
  let rules = toolRules({ tools: [], overrides: [] });
  return {
    isBlocked: (name, caller) => rules.isBlocked(name, caller),
    inputPolicyOf: (name) => rules.inputPolicyOf(name),
    outputPolicyOf: (name) => rules.outputPolicyOf(name),
    refresh: orderedReads(
      async () => {
        const [restricted, blocked] = await Promise.all([
          tools.all({ ...ALL_TOOLS, isRestricted: true }),
          overrides.all(ALL_OVERRIDES),
        ]);
        return toolRules({ tools: restricted, overrides: blocked });
      },
      (read) => {
        rules = read;
      },
    ),
  };
}
