import type { McpServer } from '../mcp-servers/mcp-server.ts';
import type { McpToolsetView } from './mcp-request.ts';
import type { McpTool } from './mcp-upstream.ts';
import { type McpRights, offersTool } from './rights.ts';
import { isNamed } from './tool-names.ts';

interface Offer {
  readonly rights: McpRights;
  /** Null unless only the tools of a toolset are offered. */
  readonly toolset: McpToolsetView | null;
}

/** Whether a caller may use a tool of a server, by its name without prefix. */
export function isOffered(server: McpServer, tool: string, { rights, toolset }: Offer): boolean {
  if (!offersTool(server, tool)) return false;
  // The rights cover tools of a granted toolset, also those of servers without a grant.
  if (!rights.allowsTool(server, tool)) return false;
  return toolset === null || toolset.tools.some((one) => isNamed(server, one.serverId) && one.toolName === tool);
}

/** Name under which callers see a tool. */
const shownName = ({ toolDisplayNames }: McpServer, tool: string): string => toolDisplayNames.get(tool) ?? tool;

/** Name of a tool at its server, by the name that callers see. */
export function ownName({ toolDisplayNames }: McpServer, shown: string): string {
  for (const [tool, display] of toolDisplayNames) if (display === shown) return tool;
  return shown;
}

/** The tools of a server that a caller sees, with their configured names and descriptions. */
export function offeredTools(server: McpServer, tools: readonly McpTool[], offer: Offer): readonly McpTool[] {
  return tools
    .filter(({ name }) => isOffered(server, name, offer))
    .map((tool) => {
      const description = server.toolDescriptions.get(tool.name);
      const name = shownName(server, tool.name);
      if (description === undefined && name === tool.name) return tool;
      return { ...tool, name, ...(description === undefined ? {} : { description }) };
    });
}
