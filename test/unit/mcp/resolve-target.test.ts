import { describe, expect, it } from 'vitest';
import type { McpTarget, McpToolsetView } from '../../../src/domain/mcp/mcp-request.ts';
import { resolveTarget } from '../../../src/domain/mcp/resolve-target.ts';
import { mcpRightsOf } from '../../../src/domain/mcp/rights.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

const files = anMcpServer({ id: 's1', name: 'files', accessGroups: ['storage'] });
const mail = anMcpServer({ id: 's2', name: 'mail', accessGroups: ['storage'] });
const inner = anMcpServer({ id: 's3', name: 'inner', isOnPublicInternet: false, allowsAllKeys: true });
const toolset: McpToolsetView = { id: 't1', name: 'reading', tools: [{ serverId: 's1', toolName: 'read' }] };

function resolved(target: McpTarget, { key = ['s1'], isInternalCaller = false, toolsets = ['t1'] } = {}) {
  const objectPermission = { mcp_servers: key, mcp_toolsets: toolsets };
  const rights = mcpRightsOf(aCaller(aKey({ settings: { objectPermission } })), [toolset]);
  const found = resolveTarget(target, { servers: [files, mail, inner], toolsets: [toolset], rights, isInternalCaller });
  return { kind: found.kind, servers: found.servers.map(({ id }) => id), toolset: found.toolset?.id ?? null };
}

const named = (...names: readonly string[]): McpTarget => ({ kind: 'servers', names });

describe('the servers of a request', () => {
  it('are all that the caller may use', () => {
    expect(resolved({ kind: 'all' })).toEqual({ kind: 'all', servers: ['s1'], toolset: null });
    expect(resolved({ kind: 'all' }, { isInternalCaller: true }).servers).toEqual(['s1', 's3']);
    expect(resolved({ kind: 'all' }, { key: [], toolsets: [] }).servers).toEqual([]);
  });

  it('are the named ones; unknown names and servers without a grant are ignored', () => {
    expect(resolved(named('FILES', 'nope', 'mail')).servers).toEqual(['s1']);
    expect(resolved(named('storage'), { key: ['s2'], toolsets: [] }).servers).toEqual(['s2']);
  });

  it('are those of a toolset, by its path or as the only name', () => {
    const expected = { kind: 'toolset', servers: ['s1'], toolset: 't1' };
    expect(resolved({ kind: 'toolset', name: 'reading' })).toEqual(expected);
    expect(resolved(named('reading'))).toEqual(expected);
  });
});

describe('a request is refused', () => {
  it('for unknown names', () => {
    const message = (name: string) => `MCP server, toolset, or access group '${name}' not found`;
    expect(() => resolved(named('nope'))).toThrow(message('nope'));
    expect(() => resolved(named('a', 'b'))).toThrow(message('a,b'));
    expect(() => resolved(named('a', 'reading'))).toThrow(message('a,reading'));
    expect(() => resolved({ kind: 'toolset', name: 'files' })).toThrow(message('files'));
  });

  it('for servers and toolsets without a grant', () => {
    expect(() => resolved(named('mail'))).toThrow('The key is not allowed to access the requested MCP servers: mail');
    expect(() => resolved(named('inner'))).toThrow('The key is not allowed to access the requested MCP servers: inner');
    expect(() => resolved({ kind: 'toolset', name: 'reading' }, { toolsets: [] })).toThrow(
      'The key is not allowed to access the requested MCP servers: reading',
    );
  });

  it('for more than 16 different names', () => {
    const names = Array.from({ length: 17 }, (_, at) => `n${at}`);
    expect(resolved(named(...names.slice(0, 15), 'files', 'files')).servers).toEqual(['s1']);
    expect(() => resolved(named(...names))).toThrow('A request may name at most 16 MCP servers.');
  });
});
