import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { McpToolsetView } from '../../../src/domain/mcp/mcp-request.ts';
import { mcpRightsOf } from '../../../src/domain/mcp/rights.ts';
import { WITHOUT_CUSTOMER } from '../../../src/domain/object-permissions/permission-layers.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

const SERVERS = ['a', 'b', 'c'].map((id) => anMcpServer({ id, name: id, alias: null }));
const TOOLSET: McpToolsetView = { id: 't', name: 'set', tools: [{ serverId: 'a', toolName: 'read' }] };

/** Permissions of a key, its owners, and the customer of a call. */
interface Layers {
  readonly key?: JsonObject | undefined;
  readonly team?: JsonObject | undefined;
  readonly user?: JsonObject | undefined;
  readonly organization?: JsonObject | undefined;
  readonly customer?: JsonObject | undefined;
}

/** The user, team and organization of a key, with their permissions. */
function ownersWith({ team, user, organization }: Layers) {
  const owners = someOwners({ team: {}, user: {}, organization: {} });
  const withPermission = <Owner extends object>(owner: Owner, objectPermission: JsonObject | undefined): Owner =>
    objectPermission === undefined ? owner : { ...owner, objectPermission };
  return {
    ...owners,
    team: owners.team && withPermission(owners.team, team),
    user: owners.user && withPermission(owners.user, user),
    organization: owners.organization && withPermission(owners.organization, organization),
  };
}

const rightsOf = (
  { key, team, user, organization, customer }: Layers,
  {
    terms = {},
    overrides = {},
  }: { terms?: Partial<typeof WITHOUT_CUSTOMER>; overrides?: Parameters<typeof aKey>[0] } = {},
) =>
  mcpRightsOf(
    aCaller(
      aKey({
        settings: key === undefined ? {} : { objectPermission: key },
        owners: ownersWith({ team, user, organization }),
        ...overrides,
      }),
    ),
    [TOOLSET],
    {
      ...WITHOUT_CUSTOMER,
      ...(customer === undefined ? {} : { customer: { id: 'x', permission: customer } }),
      ...terms,
    },
  );

/** Ids of the servers that a key may use, joined. */
const serversOf = (...args: Parameters<typeof rightsOf>): string => {
  const rights = rightsOf(...args);
  return SERVERS.filter((server) => rights.allows(server))
    .map(({ id }) => id)
    .join('');
};
/** Permission for some servers. */
const only = (...servers: readonly string[]) => ({ mcp_servers: servers });

describe('servers of a key and its owners', () => {
  it.each<[string, Layers, string]>([
    ['key and team intersect', { key: only('a', 'b'), team: only('b', 'c') }, 'b'],
    ['a key without grants has the grants of its team', { team: only('b', 'c') }, 'bc'],
    ['a team without grants does not limit the key', { key: only('a'), team: { vector_stores: ['v'] } }, 'a'],
    ['a user grants nothing', { user: only('a') }, ''],
    ['the user is a limit', { key: only('a', 'b'), user: only('b') }, 'b'],
    ['the organization is a limit', { team: only('a', 'b'), organization: only('a') }, 'a'],
    ['the customer is a limit', { key: only('a', 'b'), customer: only('b') }, 'b'],
    ['a limit without servers limits nothing', { key: only('a'), customer: {}, user: { agents: ['x'] } }, 'a'],
    [
      'all servers of a key are limited to servers of the team',
      { key: only('all-proxy-mcpservers'), team: only('c') },
      'c',
    ],
    ['a team may have all servers', { team: only('all-proxy-mcpservers') }, 'abc'],
    ['an owner may refuse all', { key: only('a'), organization: only('a', 'no-mcp-servers') }, ''],
    ['an unreadable limit refuses all', { key: only('a'), user: { mcp_servers: 'a' } }, ''],
  ])('%s', (_title, layers, expected) => {
    expect(serversOf(layers)).toBe(expected);
  });

  it('with `require_key_mcp_access_defined`, a key inherits nothing', () => {
    const terms = { keyNeedsServers: true };
    expect(serversOf({ team: only('a') }, { terms })).toBe('');
    expect(serversOf({ key: only('a'), team: only('a') }, { terms })).toBe('a');
  });

  it('with `require_end_user_mcp_access_defined`, a customer without servers has none', () => {
    const terms = { customerNeedsServers: true };
    expect(serversOf({ key: only('a'), customer: {} }, { terms })).toBe('');
    expect(serversOf({ key: only('a'), customer: only('a') }, { terms })).toBe('a');
    expect(serversOf({ key: only('a') }, { terms })).toBe('a');
  });

  it('a key with grants also has servers of its access groups and servers for all keys, within the limits', () => {
    const overrides = { mcpServerIds: ['b'] };
    expect(serversOf({ key: only('a'), team: only('a', 'c') }, { overrides })).toBe('ab');
    expect(serversOf({ key: only('a'), user: only('a') }, { overrides })).toBe('a');
    const open = anMcpServer({ id: 'o', name: 'o', allowsAllKeys: true });
    expect(rightsOf({ key: only('a'), team: only('a') }).allows(open)).toBe(true);
    expect(rightsOf({ organization: only('a') }).allows(open)).toBe(false);
  });

  it('an administrator is limited only by its team and user', () => {
    const overrides = { role: 'proxy_admin' } as const;
    expect(serversOf({}, { overrides })).toBe('abc');
    expect(serversOf({ team: only('a', 'b'), user: only('b', 'c') }, { overrides })).toBe('b');
  });
});

describe('tools of a key and its owners', () => {
  const [a] = SERVERS;
  const toolsOf = (layers: Layers): readonly string[] => {
    const rights = rightsOf(layers);
    return ['read', 'write', 'list'].filter((tool) => a !== undefined && rights.allowsTool(a, tool));
  };
  const tools = (...names: readonly string[]) => ({ mcp_tool_permissions: { a: names } });

  it.each<[string, Layers, readonly string[]]>([
    ['lists intersect', { key: tools('read', 'write'), team: tools('write', 'list') }, ['write']],
    [
      'a list of the team limits a key that may use the whole server',
      { key: only('a'), team: tools('read') },
      ['read'],
    ],
    ['a list of the customer is a limit', { key: only('a'), customer: tools('list') }, ['list']],
    ['`*` permits all', { key: tools('*'), organization: tools('*') }, ['read', 'write', 'list']],
    ['blocked tools of all owners', { key: only('a'), user: { blocked_tools: ['read'] } }, ['write', 'list']],
    ['an unreadable list of blocked tools', { key: only('a'), team: { blocked_tools: 'read' } }, []],
    ['a toolset of the key, within the team', { key: { mcp_toolsets: ['t'] }, team: only('a') }, ['read']],
    ['a toolset as a limit', { key: only('a'), user: { mcp_toolsets: ['set'] } }, ['read']],
  ])('%s', (_title, layers, expected) => {
    expect(toolsOf(layers)).toEqual(expected);
  });

  it('a toolset is allowed if the key lists it, and no owner has a list without it', () => {
    expect(rightsOf({ key: { mcp_toolsets: ['t'] }, team: only('a') }).allowsToolset(TOOLSET)).toBe(true);
    expect(rightsOf({ key: only('a') }).allowsToolset(TOOLSET)).toBe(false);
    expect(rightsOf({ key: { mcp_toolsets: ['t'] }, user: { mcp_toolsets: ['other'] } }).allowsToolset(TOOLSET)).toBe(
      false,
    );
  });
});
