import type { Caller } from '../caller.ts';
import { namesIn, type ObjectPermission } from '../object-permissions/object-permission.ts';
import { allLayers, permissionLayersOf, WITHOUT_CUSTOMER } from '../object-permissions/permission-layers.ts';
import type { Tool, ToolInputPolicy, ToolOutputPolicy, ToolOverride } from './tool.ts';
import { scopeText } from './tool.ts';
import { limitedHashOf } from '../users/session.ts';

/** The policies in force, in memory. A tool without a stored policy has the default policies. */
export interface ToolPolicies {
  /** Whether a caller may not use a tool: by its policy, by an override, or by `blocked_tools` of a permission. */
  isBlocked(name: string, caller: Caller): boolean;
  inputPolicyOf(name: string): ToolInputPolicy;
  outputPolicyOf(name: string): ToolOutputPolicy;
  /** Reads the stored policies again, because other processes may have changed them. */
  refresh(): Promise<void>;
}

/** Policies of tools that have other policies than the default ones, and the overrides. */
export interface StoredToolPolicies {
  readonly tools: readonly Pick<Tool, 'name' | 'inputPolicy' | 'outputPolicy'>[];
  readonly overrides: readonly Pick<ToolOverride, 'toolName' | 'scope'>[];
}

/** Whether `blocked_tools` has a tool. An invalid list blocks every tool, as for tools of MCP servers. */
function isListed(permission: ObjectPermission, name: string): boolean {
  const blocked = namesIn(permission, 'blocked_tools');
  return blocked !== null && (blocked.length === 0 || blocked.includes(name));
}

const overrideKey = (scope: string, toolName: string): string => `${scope}\n${toolName}`;

/** Rules of the stored policies. */
export function toolRules({ tools, overrides }: StoredToolPolicies): Omit<ToolPolicies, 'refresh'> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const blocked = new Set(overrides.map(({ scope, toolName }) => overrideKey(scope, toolName)));
  const isOverridden = (name: string, caller: Caller): boolean => {
    const { keyHash, teamId } = caller;
    const ofKey = (hash: string): boolean => blocked.has(overrideKey(scopeText({ teamId: null, keyHash: hash }), name));
    return (
      ofKey(keyHash) ||
      ofKey(limitedHashOf(caller)) ||
      (teamId !== null && blocked.has(overrideKey(scopeText({ teamId, keyHash: null }), name)))
    );
  };
  return {
    isBlocked: (name, caller) =>
      byName.get(name)?.inputPolicy === 'blocked' ||
      (blocked.size > 0 && isOverridden(name, caller)) ||
      allLayers(permissionLayersOf(caller, WITHOUT_CUSTOMER)).some((layer) => isListed(layer, name)),
    inputPolicyOf: (name) => byName.get(name)?.inputPolicy ?? 'untrusted',
    outputPolicyOf: (name) => byName.get(name)?.outputPolicy ?? 'untrusted',
  };
}
