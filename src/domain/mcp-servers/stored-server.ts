import { Conflict } from '../errors.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import type { McpServerDefinition } from './mcp-server.ts';

/** An MCP server as the database has it. Its params are encrypted. */
export interface StoredMcpServer extends Stamps {
  readonly id: string;
  /** Name and alias in lower case: copies of params, for unique indexes. Null for none. */
  readonly nameKey: string | null;
  readonly aliasKey: string | null;
  /** Params as encrypted JSON, base64. */
  readonly sealed: string;
}

/** Names and aliases are unique. */
export interface McpServerStore extends RowStore<StoredMcpServer, null> {
  /**
   * Runs changes of servers after those that run already, also of other processes. So no other server gets a name
   * between its check and its write. Throws Unavailable after a wait of a minute.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

const keyOf = (value: unknown): string | null => (typeof value === 'string' ? value.toLowerCase() : null);

/** Name and alias of params in the form in which they are compared. */
export const nameKeysOf = (params: McpServerDefinition['params']): Pick<StoredMcpServer, 'nameKey' | 'aliasKey'> => ({
  nameKey: keyOf(params['server_name']),
  aliasKey: keyOf(params['alias']),
});

/**
 * Throws Conflict when another server has the name or alias of a server, without regard to case. An id counts as a
 * name: grants and prefixes of tools select servers by all three.
 */
export function assertUniqueNames(
  { id, params }: Pick<McpServerDefinition, 'id' | 'params'>,
  others: readonly McpServerDefinition[],
): void {
  const { nameKey, aliasKey } = nameKeysOf(params);
  for (const other of others) {
    if (other.id === id) continue;
    const keys = nameKeysOf(other.params);
    const taken = [aliasKey, nameKey].find((key) => key !== null && (key === keys.nameKey || key === keys.aliasKey));
    if (taken !== undefined)
      throw new Conflict(
        `The MCP server ${other.id} has the name or alias '${taken}'. Names and aliases must be unique, without regard to case.`,
      );
    const [ownId, otherId] = [id.toLowerCase(), other.id.toLowerCase()];
    if ([aliasKey, nameKey, ownId].includes(otherId) || [keys.nameKey, keys.aliasKey].includes(ownId))
      throw new Conflict(`The id of an MCP server must not be the id, name or alias of another: ${other.id}.`);
  }
}
