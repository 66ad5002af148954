import { InvalidInput } from '../errors.ts';
import type { RowStore, Stamps } from '../row-store.ts';

/** One tool of an MCP server. */
export interface McpToolReference {
  readonly serverId: string;
  /** Without prefix. */
  readonly toolName: string;
}

/** A named selection of tools of several MCP servers. */
export interface McpToolset extends Stamps {
  readonly id: string;
  /** Unique without regard to case. */
  readonly name: string;
  readonly description: string | null;
  readonly tools: readonly McpToolReference[];
}

/** A toolset as the database has it. */
export interface StoredMcpToolset extends McpToolset {
  /** Name in lower case, for a unique index. */
  readonly nameKey: string;
}

/** Names are unique. */
export type McpToolsetStore = RowStore<StoredMcpToolset, null>;

/** Changes of a toolset. An absent member is unchanged. */
export type McpToolsetPatch = Partial<Pick<McpToolset, 'name' | 'description' | 'tools'>>;

const MAX_NAME_CHARACTERS = 256;
const MAX_TOOLS = 1_000;
const REFUSED_IN_NAMES = /[\p{Cc}\p{Cs},/]/u;

/** A toolset in its stored form. Throws InvalidInput for a name that no path can have, and for too many tools. */
export function storableToolset(toolset: McpToolset): StoredMcpToolset {
  const { name, tools } = toolset;
  if (name.trim() === '') throw new InvalidInput('toolset_name must not be blank.');
  if (name.length > MAX_NAME_CHARACTERS || REFUSED_IN_NAMES.test(name))
    throw new InvalidInput(
      `toolset_name must have at most ${MAX_NAME_CHARACTERS} characters, no comma, no slash and no control character.`,
    );
  if (tools.length > MAX_TOOLS) throw new InvalidInput(`A toolset has at most ${MAX_TOOLS} tools.`);
  return { ...toolset, nameKey: name.toLowerCase() };
}
