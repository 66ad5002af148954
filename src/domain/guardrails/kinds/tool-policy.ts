import type { ToolPolicies } from '../../tools/tool-policies.ts';
import type { Guardrail, InspectedTools, Verdict } from '../guardrail.ts';

/** Names as the reference writes them in a message. */
const listed = (names: readonly string[]): string => `[${names.map((name) => `'${name}'`).join(', ')}]`;

const ERROR = 'Violated tool policy';
/** Maximum number of names in an error. */
const MAX_NAMES = 20;

const NO_TOOLS: InspectedTools = { used: [], resultsOf: () => [] };

/**
 * Refuses calls with tools that the caller may not use. Also refuses tools that need trusted input where the
 * conversation has output of an untrusted tool. It reads no texts.
 */
export const toolPolicyGuardrail = (policies: Omit<ToolPolicies, 'refresh'>): Guardrail => ({
  readsTools: true,
  check({ tools, caller }): Verdict {
    const { used, resultsOf } = tools?.() ?? NO_TOOLS;
    const blocked = used.filter((name) => policies.isBlocked(name, caller));
    if (blocked.length > 0) {
      const names = blocked.slice(0, MAX_NAMES);
      const message = `Tool(s) ${listed(names)} are blocked by policy.`;
      return { kind: 'blocked', detail: { error: ERROR, blocked_tools: names, message } };
    }
    const careful = used.filter((name) => policies.inputPolicyOf(name) === 'trusted').slice(0, MAX_NAMES);
    if (careful.length === 0) return { kind: 'passed' };
    const sources = resultsOf()
      .filter((name) => policies.outputPolicyOf(name) === 'untrusted')
      .slice(0, MAX_NAMES);
    if (sources.length === 0) return { kind: 'passed' };
    const message = `${careful.join(', ')} requires trusted input but conversation contains untrusted output from ${sources.join(', ')}.`;
    return {
      kind: 'blocked',
      detail: { error: ERROR, blocked_tools: careful, untrusted_sources: sources, message },
    };
  },
});
