import { Conflict } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { McpServer, McpServerDefinition, McpServers } from '../../domain/mcp-servers/mcp-server.ts';
import { isApproved, mcpServerOf } from '../../domain/mcp-servers/mcp-server-of.ts';
import {
  changedParams,
  checkedParams,
  isStdioRefused,
  type StdioRules,
} from '../../domain/mcp-servers/server-params.ts';
import {
  assertUniqueNames,
  type McpServerStore,
  nameKeysOf,
  type StoredMcpServer,
} from '../../domain/mcp-servers/stored-server.ts';
import { type Authored, newStamps } from '../../domain/row-store.ts';
import { type Cipher, cipherFor, type Secrets } from '../credentials/encryption.ts';
import { createJsonSealer } from '../credentials/json-sealer.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

interface McpServersOptions {
  /** Servers of the configuration file. */
  readonly configured: readonly McpServerDefinition[];
  /** Replaces references to variables by the values of the variables. */
  readonly readParams: (params: JsonObject) => JsonObject;
  readonly stdio: StdioRules;
  readonly store: McpServerStore;
  /** Secrets from which the encryption keys for stored params are derived. */
  readonly salt: Secrets;
  readonly log: { warn(facts: object, event: string): void };
}

/** A server of the configuration file or the store. */
interface LoadedServer {
  /** Differs after each change of a stored server: its params are encrypted again. Empty for one of the file. */
  readonly version: string;
  readonly definition: McpServerDefinition;
  /** Null for a server that is not in force: not approved, not readable, or of a transport that is off. */
  readonly server: McpServer | null;
}

const versionOf = ({ id, sealed, updatedAt }: StoredMcpServer): string => JSON.stringify([id, sealed, updatedAt]);

const UNREADABLE = new Conflict(
  'The settings of this MCP server were encrypted with another salt key. Delete the server, and create it again.',
);

/** MCP servers in memory over their store. */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { configured, readParams, stdio, store, salt, log } = options;
  const sealer = createJsonSealer<JsonObject>(mcpServerCipher(salt), (id) => {
    log.warn({ id }, 'An MCP server cannot be used: its settings were encrypted with another salt key.');
  });
  let fromFile: readonly LoadedServer[] = [];
  let stored: readonly LoadedServer[] = [];
  let inForce: readonly McpServer[] = [];

  const list = (): readonly McpServerDefinition[] => [...fromFile, ...stored].map(({ definition }) => definition);

  /** The server of a definition; null when it is not in force. */
  function serverOf(definition: McpServerDefinition): McpServer | null {
    if (!isApproved(definition) || isStdioRefused(definition.params, stdio)) return null;
    return mcpServerOf({ ...definition, params: readParams(definition.params) });
  }

  /** Replaces the servers in force. */
  function replaceServers(): void {
    inForce = [...fromFile, ...stored].flatMap(({ server }) => (server === null ? [] : [server]));
  }

  function load(row: StoredMcpServer): LoadedServer {
    const { id, createdAt, createdBy, updatedAt, updatedBy } = row;
    const params = sealer.open(id, row.sealed);
    const stamps = { createdAt, createdBy, updatedAt, updatedBy };
    const definition = { id, params: params ?? {}, isFromConfig: false, ...stamps };
    return { version: versionOf(row), definition, server: params === null ? null : serverOf(definition) };
  }

  /** Replaces the stored servers. Unchanged ones stay the same objects. */
  function use(rows: readonly StoredMcpServer[]): void {
    const before = new Map(stored.map((one) => [one.version, one]));
    const next = rows.map((row) => before.get(versionOf(row)) ?? load(row));
    if (next.length === stored.length && next.every((one, at) => one === stored[at])) return;
    stored = next;
    replaceServers();
  }

  const refresh = orderedReads(() => store.all(null), use);

  function configure(definitions: readonly McpServerDefinition[]): void {
    fromFile = definitions.map((definition) => ({ version: '', definition, server: serverOf(definition) }));
    replaceServers();
  }

  /** Creates all servers in force again, with the current values of the variables. */
  function resolve(): void {
    const resolved = (one: LoadedServer): LoadedServer =>
      one.server === null ? one : { ...one, server: serverOf(one.definition) };
    fromFile = fromFile.map(resolved);
    stored = stored.map(resolved);
    replaceServers();
  }

  /** Columns of a row that params determine. */
  const columnsOf = (id: string, params: JsonObject) => ({ ...nameKeysOf(params), sealed: sealer.seal(id, params) });

  /** Changes a stored server. `changesOf` gets the stored params. Null when none has the id. */
  async function changeStored(
    id: string,
    changesOf: (params: JsonObject) => JsonObject | null,
    { now, by }: Authored,
  ): Promise<StoredMcpServer | null> {
    const changed = await store.change(id, (row) => {
      const before = sealer.open(id, row.sealed);
      if (before === null) throw UNREADABLE;
      const changes = changesOf(before);
      if (changes === null) return row;
      const params = changedParams(before, changes, stdio);
      assertUniqueNames({ id, params }, list());
      return { ...row, ...columnsOf(id, params), updatedAt: now, updatedBy: by };
    });
    return changed?.after ?? null;
  }

  configure(configured);
  return {
    servers: () => inForce,
    list,
    async add({ id, params: sent }, by) {
      const params = checkedParams(sent, stdio);
      const row = { id, ...columnsOf(id, params), ...newStamps(by) };
      await store.exclusively(async () => {
        // Other processes may have stored servers since the last read.
        await refresh();
        if (list().some((one) => one.id === id)) throw new Conflict(`An MCP server with the id ${id} exists already.`);
        assertUniqueNames({ id, params }, list());
        await store.add(row);
      });
      await refresh();
      return load(row).definition;
    },
    async change(id, changes, by) {
      const changed = await store.exclusively(async () => {
        await refresh();
        return await changeStored(id, () => changes, by);
      });
      await refresh();
      return changed === null ? null : load(changed).definition;
    },
    async changeEach(changesOf, by) {
      await store.exclusively(async () => {
        await refresh();
        const changed = stored.filter(({ definition }) => changesOf(definition) !== null);
        for (const { definition } of changed)
          await changeStored(definition.id, (params) => changesOf({ ...definition, params }), by);
      });
      await refresh();
    },
    async remove(id) {
      const [removed] = await store.remove([id]);
      await refresh();
      return removed === undefined ? null : load(removed).definition;
    },
    configure,
    resolve,
    refresh,
  };
}

/** Encrypts the params of stored MCP servers. */
export const mcpServerCipher = (salt: Secrets): Cipher => cipherFor(salt, 'stored MCP servers');
