import type { McpServer } from '../mcp-servers/mcp-server.ts';

/** Separates the prefix of a server from the name of a tool. Names and aliases of servers do not contain it. */
export const PREFIX_SEPARATOR = '-';

type NamedServer = Pick<McpServer, 'id' | 'name' | 'alias'>;

/** Name of a server for people: its alias, else its name, else its id. */
export const labelOf = ({ id, name, alias }: NamedServer): string => alias ?? name ?? id;

/** Prefix of the tools of a server: its label, with underscores for spaces. */
export const prefixOf = (server: NamedServer): string => labelOf(server).replaceAll(' ', '_');

/** Name of a tool with the prefix of its server. */
export const prefixedName = (server: NamedServer, tool: string): string =>
  `${prefixOf(server)}${PREFIX_SEPARATOR}${tool}`;

/** Whether a text selects a server: its id, or its name or alias without regard to case. */
export function isNamed(server: NamedServer, text: string): boolean {
  const lower = text.toLowerCase();
  return server.id === text || server.name?.toLowerCase() === lower || server.alias?.toLowerCase() === lower;
}

/** Whether a text selects a server: as `isNamed`, or as one of its access groups. */
export const isSelected = (server: NamedServer & Pick<McpServer, 'accessGroups'>, text: string): boolean =>
  isNamed(server, text) || server.accessGroups.includes(text);

/**
 * The server whose prefix a tool name has, and the name without it. An id as prefix may contain the separator, so the
 * longest prefix wins. Null for a name without the prefix of a server.
 */
export function splitName<Server extends NamedServer>(
  servers: readonly Server[],
  name: string,
): { readonly server: Server; readonly tool: string } | null {
  let found: { readonly server: Server; readonly prefix: string } | null = null;
  for (const server of servers)
    for (const prefix of prefixesOf(server)) {
      const isLonger = found === null || prefix.length > found.prefix.length;
      if (isLonger && startsWithPrefix(name, prefix)) found = { server, prefix };
    }
  if (found === null) return null;
  return { server: found.server, tool: name.slice(found.prefix.length + PREFIX_SEPARATOR.length) };
}

/** The prefix of a server, and its name and id, which calls may also use. */
const prefixesOf = ({ id, name, alias }: NamedServer): readonly string[] =>
  [alias, name, id].flatMap((text) => (text === null || text === '' ? [] : [text.replaceAll(' ', '_')]));

/** Whether a name has a prefix, without regard to case, and something after it. */
function startsWithPrefix(name: string, prefix: string): boolean {
  const full = `${prefix}${PREFIX_SEPARATOR}`;
  return name.length > full.length && name.slice(0, full.length).toLowerCase() === full.toLowerCase();
}
