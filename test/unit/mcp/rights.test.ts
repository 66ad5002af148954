import { describe, expect, it } from 'vitest';
import type { AccessGroup } from '../../../src/domain/access-groups/access-group.ts';
import { mcpGrantsOf } from '../../../src/domain/access-groups/access-group.ts';
import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { McpToolsetView } from '../../../src/domain/mcp/mcp-request.ts';
import { isOffered } from '../../../src/domain/mcp/offered-tools.ts';
import { mcpRightsOf, offersTool, refusedParams } from '../../../src/domain/mcp/rights.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

const server = anMcpServer({ id: 's1', name: 'files', alias: 'f', accessGroups: ['storage'] });
const TOOLSET: McpToolsetView = { id: 't1', name: 'reading', tools: [{ serverId: 's1', toolName: 'read' }] };

function rightsOf(objectPermission: JsonObject | null, overrides: Parameters<typeof aKey>[0] = {}) {
  const settings = objectPermission === null ? {} : { objectPermission };
  return mcpRightsOf(aCaller(aKey({ settings, ...overrides })), [TOOLSET]);
}

describe('a key may use a server', () => {
  it.each([
    ['by its id', { mcp_servers: ['s1'] }],
    ['by its name', { mcp_servers: ['Files'] }],
    ['by its access group', { mcp_access_groups: ['storage'] }],
    ['by permissions of its tools', { mcp_tool_permissions: { s1: ['read'] } }],
    ['by a toolset', { mcp_toolsets: ['t1'] }],
    ['by a grant of all servers', { mcp_servers: ['all-proxy-mcpservers'] }],
  ])('%s', (_title, permission) => {
    expect(rightsOf(permission).allows(server)).toBe(true);
  });

  it.each([
    ['without a grant', null],
    ['with a grant of another server', { mcp_servers: ['s2'], mcp_access_groups: ['other'], mcp_toolsets: ['t2'] }],
    ['with a value of a wrong type', { mcp_servers: 's1', mcp_tool_permissions: ['s1'] }],
    ['with a refusal of all', { mcp_servers: ['s1', 'no-mcp-servers'] }],
  ])('not %s', (_title, permission) => {
    expect(rightsOf(permission).allows(server)).toBe(false);
    expect(rightsOf(permission).allowsTool(server, 'read')).toBe(false);
  });

  it('by an access group of its own or of its team', () => {
    expect(rightsOf(null, { mcpServerIds: ['s1'] }).allows(server)).toBe(true);
    const group = { id: 'g', keyIds: ['k'], teamIds: ['t'], mcpServerIds: ['s1'] } as unknown as AccessGroup;
    const grants = (overrides: Parameters<typeof aKey>[0]) => mcpGrantsOf([group], aKey(overrides));
    expect(grants({ hash: 'k' })).toEqual(['s1']);
    expect(grants({ teamId: 't' })).toEqual(['s1']);
    expect(grants({ settings: { accessGroupIds: ['g'] } })).toEqual(['s1']);
    expect(grants({ teamId: 'other' })).toEqual([]);
  });

  it('when it is open to all keys, unless the key refuses all', () => {
    const open = anMcpServer({ allowsAllKeys: true });
    expect(rightsOf(null).allows(open)).toBe(true);
    expect(rightsOf({ mcp_servers: ['no-mcp-servers'] }).allows(open)).toBe(false);
  });
});

describe('an administrator may use', () => {
  it('every server and toolset', () => {
    const rights = mcpRightsOf(aCaller(null), [TOOLSET]);
    expect([rights.allows(server), rights.allowsTool(server, 'x'), rights.allowsToolset(TOOLSET)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('only granted servers when its key has grants', () => {
    expect(rightsOf({ mcp_servers: ['s2'] }, { role: 'proxy_admin' }).allows(server)).toBe(false);
    expect(rightsOf({ blocked_tools: ['x'] }, { role: 'proxy_admin' }).allows(server)).toBe(true);
  });
});

describe('a key may use a tool', () => {
  it('of a granted server: all, or those that it lists', () => {
    expect(rightsOf({ mcp_servers: ['s1'] }).allowsTool(server, 'write')).toBe(true);
    const listed = rightsOf({ mcp_servers: ['s1'], mcp_tool_permissions: { s1: ['read'] } });
    expect([listed.allowsTool(server, 'read'), listed.allowsTool(server, 'write')]).toEqual([true, false]);
    expect(rightsOf({ mcp_tool_permissions: { files: ['*'] } }).allowsTool(server, 'write')).toBe(true);
    expect(rightsOf({ mcp_tool_permissions: { s1: [] } }).allowsTool(server, 'write')).toBe(true);
  });

  it('of a granted toolset only', () => {
    const rights = rightsOf({ mcp_toolsets: ['reading'] });
    expect([rights.allowsTool(server, 'read'), rights.allowsTool(server, 'write')]).toEqual([true, false]);
    expect([rights.allowsToolset(TOOLSET), rightsOf({ mcp_servers: ['s1'] }).allowsToolset(TOOLSET)]).toEqual([
      true,
      false,
    ]);
  });

  it('unless it is blocked, with or without prefix', () => {
    const rights = rightsOf({ mcp_servers: ['s1'], mcp_toolsets: ['t1'], blocked_tools: ['read', 'f-write'] });
    expect(['read', 'write', 'list'].map((tool) => rights.allowsTool(server, tool))).toEqual([false, false, true]);
  });
});

describe('a server offers', () => {
  it('allowed tools; they win over disallowed ones', () => {
    const limited = anMcpServer({ allowedTools: ['read'], disallowedTools: ['read'] });
    expect([offersTool(limited, 'read'), offersTool(limited, 'write')]).toEqual([true, false]);
  });

  it('all tools but disallowed ones, without allowed tools or with `*`', () => {
    for (const allowedTools of [[], ['*']]) {
      const some = anMcpServer({ allowedTools, disallowedTools: ['write'] });
      expect([offersTool(some, 'read'), offersTool(some, 'write')]).toEqual([true, false]);
    }
  });

  it('allowed parameters of a tool', () => {
    const some = anMcpServer({ allowedParams: new Map([['read', ['path']]]) });
    expect(refusedParams(some, 'read', { path: 1, mode: 2 })).toEqual(['mode']);
    expect(refusedParams(some, 'write', { path: 1, mode: 2 })).toEqual([]);
  });
});

describe('a toolset as the target of a request', () => {
  const both = { ...TOOLSET, tools: [...TOOLSET.tools, { serverId: 's1', toolName: 'write' }] };
  const offered = (permission: JsonObject) => {
    const rights = mcpRightsOf(aCaller(aKey({ settings: { objectPermission: permission } })), [both]);
    return ['read', 'write', 'list'].filter((tool) => isOffered(server, tool, { rights, toolset: both }));
  };

  it('offers its tools, also without a grant of their server', () => {
    expect(offered({ mcp_toolsets: ['t1'] })).toEqual(['read', 'write']);
  });

  it('does not offer tools that are blocked for the key', () => {
    expect(offered({ mcp_toolsets: ['t1'], blocked_tools: ['write'] })).toEqual(['read']);
  });

  it('does not widen the tools of a key that has all servers and no grant of the toolset', () => {
    const permission = { mcp_servers: ['all-proxy-mcpservers'], mcp_tool_permissions: { s1: ['read'] } };
    expect(offered(permission)).toEqual(['read']);
  });
});
