import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { namesIn, patchedPermission, toolsIn } from '../../../src/domain/object-permissions/object-permission.ts';
import { permissionLayersOf, WITHOUT_CUSTOMER } from '../../../src/domain/object-permissions/permission-layers.ts';
import { aCaller, aKey } from '../../support/chat.ts';

describe('a patched permission', () => {
  const before = { mcp_servers: ['a'], vector_stores: ['v'] };

  it('keeps members that the patch does not have, replaces others, and removes those that are null', () => {
    expect(patchedPermission(before, { mcp_servers: ['b'], agents: ['x'] })).toEqual({
      mcp_servers: ['b'],
      vector_stores: ['v'],
      agents: ['x'],
    });
    expect(patchedPermission(before, { vector_stores: null })).toEqual({ mcp_servers: ['a'] });
    expect(patchedPermission(before, null)).toBeNull();
    expect(patchedPermission(null, { mcp_tool_search_enabled: true })).toEqual({ mcp_tool_search_enabled: true });
  });

  it.each([
    [{ mcp_servers: 'a' }],
    [{ vector_stores: [1] }],
    [{ blocked_tools: {} }],
    [{ mcp_tool_permissions: ['a'] }],
    [{ mcp_tool_permissions: { a: 'b' } }],
  ])('refuses %j, which has a wrong type', (patch) => {
    expect(() => patchedPermission(before, patch)).toThrow(InvalidInput);
  });
});

describe('a stored permission', () => {
  it('with an absent or empty list restricts nothing, with an unreadable list refuses everything', () => {
    expect([{}, { agents: null }, { agents: [] }].map((stored) => namesIn(stored, 'agents'))).toEqual([
      null,
      null,
      null,
    ]);
    expect([{ agents: 'a' }, { agents: [1] }].map((stored) => namesIn(stored, 'agents'))).toEqual([[], []]);
    expect(toolsIn({ mcp_tool_permissions: {} })).toBeNull();
    expect(toolsIn({ mcp_tool_permissions: 1 })).toEqual(new Map());
    expect(toolsIn({ mcp_tool_permissions: { s: 1 } })).toEqual(new Map([['s', ['']]]));
  });

  it('that is no object refuses everything', () => {
    const key = aKey({ settings: { objectPermission: 'damaged' as never } });
    const { key: permission } = permissionLayersOf(aCaller(key), WITHOUT_CUSTOMER);
    expect(permission).not.toBeNull();
    expect(namesIn(permission ?? {}, 'vector_stores')).toEqual([]);
  });
});
