import { expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { setToolPolicy } from '../../../resolvers/tools.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { MAX_NAMED_TOOLS, MAX_TOOLS, type Tool, type ToolFilter } from '../../../src/domain/tools/tool.ts';
import { aCaller } from '../../support/chat.ts';

/** A scope whose registry has tools of callers, and tools with a policy. Added tools are recorded. */
function scopeWith({ seen, restricted }: { readonly seen: number; readonly restricted: number }) {
  const added: Tool[] = [];
  const tools = {
    all: () => Promise.resolve([]),
    count: ({ isRestricted }: ToolFilter) =>
      Promise.resolve(isRestricted === true ? restricted : isRestricted === false ? seen : seen + restricted),
    add: (tool: Tool) => Promise.resolve(void added.push(tool)),
  };
  const platform = {
    stores: { tools },
    toolPolicies: { refresh: () => Promise.resolve() },
    ids: { uuid: () => 'id' },
    clock: { now: () => new Date(0) },
  };
  const scope = { platform, caller: { ...aCaller(), role: 'proxy_admin' } } as unknown as Scope<never>;
  return { scope, added };
}

const BLOCK = { name: 'wire', inputPolicy: 'blocked', outputPolicy: null, teamId: null, key: null } as const;

it('a tool can be blocked although callers have filled the registry', async () => {
  const { scope, added } = scopeWith({ seen: MAX_TOOLS, restricted: MAX_NAMED_TOOLS - 1 });
  await setToolPolicy(scope, BLOCK);
  expect(added).toMatchObject([{ name: 'wire', inputPolicy: 'blocked' }]);
});

it.each([
  ['with a policy', { seen: 0, restricted: MAX_NAMED_TOOLS }],
  ['in total', { seen: MAX_TOOLS + 1, restricted: MAX_NAMED_TOOLS - 1 }],
])('the number of tools %s is limited', async (_case, counts) => {
  const { scope, added } = scopeWith(counts);
  await expect(setToolPolicy(scope, BLOCK)).rejects.toThrow(
    new InvalidInput(`There are already ${MAX_NAMED_TOOLS} tools with a policy, which is the maximum.`),
  );
  expect(added).toEqual([]);
});
