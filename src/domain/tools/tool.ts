import { InvalidInput, NotFound } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** What a tool may read. `trusted`: only conversations without output of untrusted tools. */
export const INPUT_POLICIES = ['untrusted', 'trusted', 'blocked'] as const;
export type ToolInputPolicy = (typeof INPUT_POLICIES)[number];
/** Whether the output of a tool is safe for tools with the input policy `trusted`. */
export const OUTPUT_POLICIES = ['untrusted', 'trusted'] as const;
export type ToolOutputPolicy = (typeof OUTPUT_POLICIES)[number];

/** Policies of a tool that no administrator has changed. */
export const DEFAULT_POLICIES = { inputPolicy: 'untrusted', outputPolicy: 'untrusted' } as const;

/** A tool that was offered to a model or called through the gateway, or for which an administrator set a policy. */
export interface Tool extends Stamps {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  /** Name of the MCP server of the first call; `user_defined` for the tool of a client. */
  readonly origin: string;
  readonly inputPolicy: ToolInputPolicy;
  readonly outputPolicy: ToolOutputPolicy;
  /** Number of calls of the tool. */
  readonly callCount: number;
  /** Key, team and client of the first call; null for a tool that was only named by an administrator. */
  readonly keyHash: string | null;
  readonly keyAlias: string | null;
  readonly teamId: string | null;
  readonly userAgent: string | null;
  /** When a request last offered or called the tool; null when none did. */
  readonly lastUsedAt: Date | null;
}

/** Filter of tools. All conditions that are not null must match. */
export interface ToolFilter {
  readonly name: string | null;
  readonly nameContains: string | null;
  readonly inputPolicy: ToolInputPolicy | null;
  /** True: only tools with other policies than the default ones. */
  readonly isRestricted: boolean | null;
}

export const ALL_TOOLS: ToolFilter = { name: null, nameContains: null, inputPolicy: null, isRestricted: null };

export type ToolSort = 'created_at' | 'name' | 'call_count';
export type ToolStore = RowStore<Tool, ToolFilter, ToolSort>;

/** A tool that is blocked for one team or for one key. */
export interface ToolOverride extends Stamps {
  readonly id: string;
  readonly toolName: string;
  /** `team:` or `key:` and the id or the hash. Unique together with the tool. */
  readonly scope: string;
  readonly teamId: string | null;
  readonly keyHash: string | null;
  /** Alias of the key or of the team when the override was created; null without one. */
  readonly alias: string | null;
}

export interface OverrideFilter {
  readonly toolName: string | null;
  readonly scope: string | null;
}

export const ALL_OVERRIDES: OverrideFilter = { toolName: null, scope: null };
export type ToolOverrideStore = RowStore<ToolOverride, OverrideFilter>;

/** Maximum number of tools up to which new ones of calls are recorded. */
export const MAX_TOOLS = 10_000;
/** Maximum number of recorded tools that calls of one key named first. One key cannot fill the registry. */
export const MAX_TOOLS_OF_KEY = 1_000;
/** Maximum number of tools with a policy, besides `MAX_TOOLS` others. So calls cannot use up the room for policies. */
export const MAX_NAMED_TOOLS = 10_000;
/** Maximum number of overrides of all tools. */
export const MAX_OVERRIDES = 10_000;
/** Maximum number of characters of the name of a tool. Tools with longer names are not recorded. */
export const MAX_TOOL_NAME = 256;

export const unknownTool = (name: string): NotFound =>
  new NotFound('tool', name, `Tool '${name.slice(0, MAX_TOOL_NAME)}' not found`);

const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;

/** Whether the name of a tool can be stored. */
export const isToolName = (name: string): boolean =>
  name.trim() !== '' && name.length <= MAX_TOOL_NAME && !CONTROL_OR_UNPAIRED_SURROGATE.test(name);

/** Throws InvalidInput for a name that no tool can have. */
export function assertToolName(name: string): void {
  if (!isToolName(name))
    throw new InvalidInput(
      `tool_name must have 1 to ${MAX_TOOL_NAME} characters, without control characters and unpaired surrogates`,
    );
}

/** Policies that an administrator sets. Absent members keep their values. */
export interface ToolPolicyPatch {
  readonly inputPolicy?: ToolInputPolicy;
  readonly outputPolicy?: ToolOutputPolicy;
}

/** A tool that an administrator names before it is used. */
export const namedTool = (
  name: string,
  policies: ToolPolicyPatch,
  about: Authored & { readonly id: string },
): Tool => ({
  id: about.id,
  name,
  origin: USER_DEFINED,
  ...DEFAULT_POLICIES,
  ...policies,
  callCount: 0,
  keyHash: null,
  keyAlias: null,
  teamId: null,
  userAgent: null,
  lastUsedAt: null,
  ...newStamps(about),
});

/** Origin of a tool that no MCP server of the gateway has. */
export const USER_DEFINED = 'user_defined';

/** Team or key of an override. */
export type OverrideScope =
  | { readonly teamId: string; readonly keyHash: null }
  | { readonly teamId: null; readonly keyHash: string };

export const scopeText = ({ teamId, keyHash }: OverrideScope): string =>
  teamId === null ? `key:${keyHash}` : `team:${teamId}`;

/** A new override. */
export const newOverride = (
  toolName: string,
  scope: OverrideScope,
  { id, alias, ...by }: Authored & { readonly id: string; readonly alias: string | null },
): ToolOverride => ({ id, toolName, scope: scopeText(scope), ...scope, alias, ...newStamps(by) });
