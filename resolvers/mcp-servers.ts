import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { type JsonObject, jsonObjectOf } from '../src/domain/json-object.ts';
import { isApproved } from '../src/domain/mcp-servers/mcp-server-of.ts';
import type { McpServerDefinition } from '../src/domain/mcp-servers/mcp-server.ts';
import { MCP_REVIEW_MEMBERS } from '../src/domain/mcp-servers/server-members.ts';
import { isPublic, shownServer } from '../src/domain/mcp-servers/shown-params.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { anyKey, anyone, system } from './operation/access.ts';
import { mcpAdmin, mcpSubmitter, mcpViewer } from './operation/mcp-access.ts';
import { authored } from './operation/authored.ts';
import { visibleServers } from './operation/mcp-readers.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { McpServerPlatform } from './operation/mcp-platform.ts';
import type { Scope } from './operation/scope.ts';

type McpScope = Scope<McpServerPlatform>;

/** A new server. */
export interface McpServerDraft {
  /** Null for a generated id. */
  readonly id: string | null;
  readonly params: JsonObject;
}

/** State of the servers that teams submitted. */
export interface McpSubmissions {
  readonly items: readonly McpServerDefinition[];
  readonly pending: number;
  readonly active: number;
  readonly rejected: number;
}

const MAX_ID_CHARACTERS = 256;
const REFUSED_IN_IDS = /[\p{Cc}\p{Cs}/]/u;

const unknownServer = (id: string): NotFound => new NotFound('MCP server', id, `MCP server '${id}' not found.`);

const definitionOf = ({ platform }: McpScope, id: string): McpServerDefinition | undefined =>
  platform.mcpServers.list().find((one) => one.id === id);

/** Throws Conflict for a server of the configuration file. */
function assertNotOfFile(scope: McpScope, id: string): void {
  if (definitionOf(scope, id)?.isFromConfig !== true) return;
  throw new Conflict(`The MCP server ${id} is in the configuration file. Change it there.`);
}

/** Params without the state of a review, which only operations set. */
const withoutReview = (params: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !Object.hasOwn(MCP_REVIEW_MEMBERS, name)));

function newId(scope: McpScope, id: string | null): string {
  if (id === null) return scope.platform.ids.uuid();
  if (id.trim() === '' || id.length > MAX_ID_CHARACTERS || REFUSED_IN_IDS.test(id))
    throw new InvalidInput(
      `server_id must have 1 to ${MAX_ID_CHARACTERS} characters, no slash and no control character.`,
    );
  return id;
}

async function changeServer(scope: McpScope, id: string, params: JsonObject): Promise<McpServerDefinition> {
  assertNotOfFile(scope, id);
  const changed = await scope.platform.mcpServers.change(id, params, authored(scope));
  if (changed === null) throw unknownServer(id);
  return shownServer(changed, 'admin');
}

/** Lists the MCP servers that the caller may use, those of the configuration file first. Secrets are redacted. */
export const listMcpServers = operation({
  name: 'listMcpServers',
  access: anyKey,
  run: (scope: McpScope, _input: undefined): Promise<readonly McpServerDefinition[]> => visibleServers(scope),
});

/** One MCP server that the caller may use. Throws NotFound. */
export const getMcpServer = operation({
  name: 'getMcpServer',
  access: anyKey,
  async run(scope: McpScope, { id }: { readonly id: string }): Promise<McpServerDefinition> {
    const one = (await visibleServers(scope)).find((server) => server.id === id);
    if (one === undefined) throw unknownServer(id);
    return one;
  },
});

/** Stores an MCP server. Throws Conflict when its id, name or alias is taken, and InvalidInput. */
export const createMcpServer = operation({
  name: 'createMcpServer',
  access: mcpAdmin,
  async run(scope: McpScope, { id, params }: McpServerDraft): Promise<McpServerDefinition> {
    const draft = { id: newId(scope, id), params: withoutReview(params) };
    return shownServer(await scope.platform.mcpServers.add(draft, authored(scope)), 'admin');
  },
});

/** Changes a stored MCP server. Throws NotFound, Conflict and InvalidInput. */
export const updateMcpServer = operation({
  name: 'updateMcpServer',
  access: mcpAdmin,
  run: (scope: McpScope, { id, params }: { readonly id: string; readonly params: JsonObject }) =>
    changeServer(scope, id, withoutReview(params)),
});

/** Deletes a stored MCP server. Throws NotFound and Conflict. */
export const deleteMcpServer = operation({
  name: 'deleteMcpServer',
  access: mcpAdmin,
  async run(scope: McpScope, { id }: { readonly id: string }): Promise<McpServerDefinition> {
    assertNotOfFile(scope, id);
    const removed = await scope.platform.mcpServers.remove(id);
    if (removed === null) throw unknownServer(id);
    return shownServer(removed, 'admin');
  },
});

/**
 * Stores an MCP server of a team. It is in force after an administrator has approved it. Throws Conflict, and
 * InvalidInput, also for a key without a team.
 */
export const submitMcpServer = operation({
  name: 'submitMcpServer',
  access: mcpSubmitter,
  async run(scope: McpScope, { id, params }: McpServerDraft): Promise<McpServerDefinition> {
    const caller = callerOf(scope);
    if (nullIfBlank(caller.teamId) === null) throw new InvalidInput('Only a key of a team can submit an MCP server.');
    const by = authored(scope);
    const review = { approval_status: 'pending_review', submitted_by: by.by, submitted_at: by.now.toISOString() };
    // The programs of stdio servers run on the machine of the gateway: only administrators choose them.
    if (params['transport'] === 'stdio') throw new InvalidInput('A stdio server cannot be submitted.');
    // A reference would send a variable of the gateway, such as its admin key, to an address that the team chooses.
    if (JSON.stringify(params).includes('os.environ/'))
      throw new InvalidInput('A submitted server cannot refer to variables of the gateway.');
    const draft = { id: newId(scope, id), params: { ...withoutReview(params), allow_all_keys: null, ...review } };
    return shownServer(await scope.platform.mcpServers.add(draft, by), 'user');
  },
});

/** Lists the MCP servers that teams submitted, whatever their state is. */
export const listMcpSubmissions = operation({
  name: 'listMcpSubmissions',
  access: mcpViewer,
  run({ platform }: McpScope, _input: undefined): McpSubmissions {
    const all = platform.mcpServers.list().filter(({ params }) => params['submitted_at'] !== undefined);
    const count = (status: string): number => all.filter(({ params }) => params['approval_status'] === status).length;
    return {
      items: all.map((one) => shownServer(one, 'admin')),
      pending: count('pending_review'),
      active: count('active'),
      rejected: count('rejected'),
    };
  },
});

/** Approves or rejects a submitted MCP server. Throws NotFound, also for a server that no team submitted. */
export const reviewMcpServer = operation({
  name: 'reviewMcpServer',
  access: mcpAdmin,
  run(
    scope: McpScope,
    review: { readonly id: string; readonly approved: boolean; readonly notes: string | null },
  ): Promise<McpServerDefinition> {
    const { id, approved, notes } = review;
    if (definitionOf(scope, id)?.params['submitted_at'] === undefined) throw unknownServer(id);
    return changeServer(scope, id, {
      approval_status: approved ? 'active' : 'rejected',
      reviewed_at: scope.platform.clock.now().toISOString(),
      review_notes: notes,
    });
  },
});

/** Names of the access groups of the servers that the caller may use, in order. */
export const listMcpAccessGroups = operation({
  name: 'listMcpAccessGroups',
  access: anyKey,
  async run(scope: McpScope, _input: undefined): Promise<readonly string[]> {
    const visible = new Set((await visibleServers(scope)).map(({ id }) => id));
    const usable = scope.platform.mcpServers.servers().filter(({ id }) => visible.has(id));
    return [...new Set(usable.flatMap(({ accessGroups }) => accessGroups))].toSorted();
  },
});

/**
 * Makes the named stored servers public, and all other stored servers not public. Throws NotFound for an unknown
 * server, and Conflict for one of the configuration file.
 */
export const publishMcpServers = operation({
  name: 'publishMcpServers',
  access: mcpAdmin,
  async run(scope: McpScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly string[]> {
    for (const id of ids) {
      if (definitionOf(scope, id) === undefined) throw unknownServer(id);
      assertNotOfFile(scope, id);
    }
    await scope.platform.mcpServers.changeEach((one) => {
      const isNamed = ids.includes(one.id);
      if (isPublic(one) === isNamed) return null;
      return { mcp_info: { ...jsonObjectOf(one.params['mcp_info']), is_public: isNamed, is_public_explicit: true } };
    }, authored(scope));
    return ids;
  },
});

/** Lists the public MCP servers, for everyone. */
export const listPublicMcpServers = operation({
  name: 'listPublicMcpServers',
  access: anyone,
  run: ({ platform }: McpScope, _input: undefined): readonly McpServerDefinition[] =>
    platform.mcpServers
      .list()
      .filter((one) => isPublic(one) && isApproved(one))
      .map((one) => shownServer(one, 'key')),
});

/** Lists the public MCP servers for clients that install servers. Throws NotFound where this is turned off. */
export const readMcpRegistry = operation({
  name: 'readMcpRegistry',
  access: anyone,
  run(scope: McpScope, _input: undefined) {
    if (!scope.platform.mcpRegistry) throw new NotFound('MCP registry', '', 'The MCP registry is not enabled.');
    return { base: scope.platform.publicUrl(), servers: listPublicMcpServers(scope, undefined) };
  },
});

/** Per-user credentials and variables of MCP servers. None are stored. */
export const listMcpUserValues = operation({
  name: 'listMcpUserValues',
  access: anyKey,
  run: (_scope: Scope<object>, _input: undefined): readonly never[] => [],
});

/** Address of the client, as rules about public addresses see it. */
export const readMcpClientAddress = operation({
  name: 'readMcpClientAddress',
  access: anyKey,
  run: ({ client }: Scope<object>, _input: undefined): string => client.address,
});

/** Applies changes of stored MCP servers by other processes. */
export const refreshMcpServers = operation({
  name: 'refreshMcpServers',
  access: system,
  run: ({ platform }: McpScope, _input: undefined): Promise<void> => platform.mcpServers.refresh(),
});
