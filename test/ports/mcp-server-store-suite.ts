import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import type { McpServerDefinition, McpServers } from '../../src/domain/mcp-servers/mcp-server.ts';
import type { McpServerStore, StoredMcpServer } from '../../src/domain/mcp-servers/stored-server.ts';
import { storableToolset } from '../../src/domain/mcp-toolsets/mcp-toolset.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createMcpServers } from '../../src/runtime/mcp-servers/mcp-servers.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');
const BY = { now: NOW, by: 'admin' };
const STAMPS = { createdAt: NOW, createdBy: 'admin', updatedAt: NOW, updatedBy: 'admin' };

const aRow = (overrides: Partial<StoredMcpServer> = {}): StoredMcpServer => ({
  id: 'one',
  nameKey: 'first',
  aliasKey: 'f',
  sealed: 'sealed',
  ...STAMPS,
  ...overrides,
});

const PARAMS = {
  server_name: 'Files',
  url: 'http://127.0.0.1:1/mcp',
  transport: 'http',
  auth_type: 'bearer_token',
  credentials: { auth_value: 'upstream-token' },
};
const FROM_FILE: McpServerDefinition = {
  id: 'f',
  params: { server_name: 'docs', alias: 'd', url: 'os.environ/DOCS', transport: 'http' },
  isFromConfig: true,
  createdAt: null,
  createdBy: null,
  updatedAt: null,
  updatedBy: null,
};

/** Contract of every McpServerStore and McpToolsetStore, and of the servers of several processes over one store. */
export function mcpServerStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`McpServerStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    let store: McpServerStore;
    const warnings: object[] = [];
    const aProcess = (saltKey = 'salt'): McpServers =>
      createMcpServers({
        configured: [FROM_FILE],
        readParams: (params) => ({ ...params, instructions: 'resolved' }),
        stdio: { isEnabled: false, extraCommands: [] },
        store,
        salt: { current: new Secret(saltKey), former: [] },
        log: { warn: (facts) => void warnings.push(facts) },
      });
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      store = stores.mcpServers;
    });
    afterEach(async () => {
      warnings.length = 0;
      await scratch.clear();
    });
    afterAll(() => scratch.remove());

    it('returns a server as it was added, and refuses its id, name and alias a second time', async () => {
      await store.add(aRow());
      expect(await store.find('one')).toEqual(aRow());
      for (const row of [
        aRow({ nameKey: 'x', aliasKey: 'x' }),
        aRow({ id: 'two', aliasKey: 'x' }),
        aRow({ id: 'two', nameKey: 'x' }),
      ])
        await expect(store.add(row)).rejects.toThrow(Conflict);
      const unnamed = { nameKey: null, aliasKey: null };
      await store.add(aRow({ id: 'three', ...unnamed }), aRow({ id: 'two', ...unnamed }));
      expect((await store.all(null)).map(({ id }) => id)).toEqual(['one', 'three', 'two']);
    });

    it('keeps params encrypted; a process with another salt key has the server without settings', async () => {
      await aProcess().add({ id: 'one', params: PARAMS }, BY);
      expect(JSON.stringify(await store.find('one'))).not.toContain('upstream-token');
      const withOtherKey = aProcess('other');
      await withOtherKey.refresh();
      await withOtherKey.refresh();
      expect(withOtherKey.list()[1]).toEqual({ id: 'one', params: {}, isFromConfig: false, ...STAMPS });
      expect(withOtherKey.servers().map(({ id }) => id)).toEqual(['f']);
      expect(warnings).toEqual([{ id: 'one' }]);
      await expect(withOtherKey.change('one', { rpm: 1 }, BY)).rejects.toThrow(Conflict);
      expect((await withOtherKey.remove('one'))?.id).toBe('one');
    });

    it('another process has a change after a refresh; unchanged servers are the same objects', async () => {
      const [first, second] = [aProcess(), aProcess()];
      await first.add({ id: 'one', params: PARAMS }, BY);
      await second.refresh();
      const before = second.servers();
      expect(before.map(({ id, alias, instructions }) => [id, alias, instructions])).toEqual([
        ['f', 'd', 'resolved'],
        ['one', 'Files', 'resolved'],
      ]);
      await second.refresh();
      expect(second.servers()).toBe(before);
      const changes = { url: 'http://127.0.0.1:2/mcp', credentials: { auth_value: 'REDACTED' } };
      await first.change('one', changes, { now: LATER, by: 'b' });
      await second.refresh();
      expect(second.list()[1]).toEqual({
        id: 'one',
        params: { ...PARAMS, alias: 'Files', url: 'http://127.0.0.1:2/mcp' },
        isFromConfig: false,
        ...STAMPS,
        updatedAt: LATER,
        updatedBy: 'b',
      });
      expect(second.servers()[0]).toBe(before[0]);
      await first.remove('one');
      expect(await first.remove('one')).toBeNull();
      expect(await first.change('one', {}, BY)).toBeNull();
      await second.refresh();
      expect(second.list()).toEqual([FROM_FILE]);
    });

    it('refuses a name or alias of another server, also of the file and of another process', async () => {
      const [first, second] = [aProcess(), aProcess()];
      await first.add({ id: 'one', params: PARAMS }, BY);
      const url = { url: 'http://h/', transport: 'http' };
      for (const params of [{ server_name: 'FILES' }, { alias: 'files' }, { server_name: 'D' }, { alias: 'Docs' }])
        await expect(second.add({ id: 'two', params: { ...params, ...url } }, BY)).rejects.toThrow(Conflict);
      await expect(second.add({ id: 'f', params: url }, BY)).rejects.toThrow(Conflict);
      await second.add({ id: 'two', params: { ...url, alias: 'other' } }, BY);
      await expect(first.change('two', { alias: 'fiLes' }, BY)).rejects.toThrow(
        new Conflict(
          "The MCP server one has the name or alias 'files'. Names and aliases must be unique, without regard to case.",
        ),
      );
      await expect(first.change('two', { alias: 'a-b' }, BY)).rejects.toThrow(InvalidInput);
      expect((await first.change('two', { alias: 'OTHER' }, BY))?.params['alias']).toBe('OTHER');
    });

    it('one of two processes gets a name that is the alias of a server of the other at the same time', async () => {
      const [first, second] = [aProcess(), aProcess()];
      const at = { url: 'http://h/', transport: 'http' };
      const added = await Promise.allSettled([
        first.add({ id: 'one', params: { ...at, server_name: 'a', alias: 'shared' } }, BY),
        second.add({ id: 'two', params: { ...at, server_name: 'shared', alias: 'b' } }, BY),
      ]);
      expect(added.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect((await store.all(null)).length).toBe(1);
      await store.remove(['one', 'two']);
      await first.add({ id: 'one', params: { ...at, server_name: 'a', alias: 'c' } }, BY);
      await first.add({ id: 'two', params: { ...at, server_name: 'b', alias: 'e' } }, BY);
      const changed = await Promise.allSettled([
        first.change('one', { alias: 'shared' }, BY),
        second.change('two', { server_name: 'shared' }, BY),
      ]);
      expect(changed.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    });

    it('changes several servers of one state, although another process changes them at the same time', async () => {
      const [first, second] = [aProcess(), aProcess()];
      await first.add({ id: 'one', params: PARAMS }, BY);
      const adding = (name: string) => (one: McpServerDefinition) => ({
        mcp_info: { ...jsonObjectOf(one.params['mcp_info']), [name]: true },
      });
      await Promise.all([first.changeEach(adding('a'), BY), second.changeEach(adding('b'), BY)]);
      await first.refresh();
      expect(first.list()[1]?.params['mcp_info']).toEqual({ a: true, b: true });
      await first.changeEach(() => null, { now: LATER, by: 'b' });
      expect((await store.find('one'))?.updatedBy).toBe('admin');
    });

    it('a server that waits for its review is listed and not in force', async () => {
      const servers = aProcess();
      await servers.add({ id: 'one', params: { ...PARAMS, approval_status: 'pending_review' } }, BY);
      expect([servers.list().length, servers.servers().length]).toEqual([2, 1]);
      await servers.change('one', { approval_status: 'active' }, BY);
      expect(servers.servers().length).toBe(2);
    });

    it('stores toolsets with unique names', async () => {
      const toolset = {
        id: 't',
        name: 'Tools',
        description: null,
        tools: [{ serverId: 's', toolName: 'x' }],
        ...STAMPS,
      };
      await stores.mcpToolsets.add(storableToolset(toolset));
      expect(await stores.mcpToolsets.find('t')).toEqual({ ...toolset, nameKey: 'tools' });
      await expect(stores.mcpToolsets.add(storableToolset({ ...toolset, id: 'u', name: 'TOOLS' }))).rejects.toThrow(
        new Conflict("The id u or the name 'TOOLS' is that of another toolset"),
      );
    });
  });
}
