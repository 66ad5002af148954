import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import type {
  SearchTool,
  SearchTools,
  SearchToolStore,
  StoredSearchTool,
} from '../../src/domain/search-tools/search-tool.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createSearchTools } from '../../src/runtime/search-tools/search-tools.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');
const BY = { now: NOW, by: 'admin' };

/** A row of the store. */
const aRow = (overrides: Partial<StoredSearchTool> = {}): StoredSearchTool => ({
  id: 'one',
  name: 'n',
  info: { a: 1 },
  sealed: 'sealed',
  createdAt: NOW,
  createdBy: 'admin',
  updatedAt: NOW,
  updatedBy: 'admin',
  ...overrides,
});

const DRAFT = {
  id: 'one',
  name: 'n',
  params: { search_provider: 'tavily', api_key: 'sk-search' },
  info: null,
};
/** A tool of the configuration file. */
const fromFile = (id: string, overrides: Partial<SearchTool> = {}): SearchTool => ({
  ...DRAFT,
  id,
  name: 'f',
  params: { search_provider: 'tavily', api_key: 'os.environ/KEY' },
  isFromConfig: true,
  createdAt: null,
  updatedAt: null,
  ...overrides,
});

/** Contract of every SearchToolStore, and of the search tools of several processes that use one store. */
export function searchToolStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`SearchToolStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: SearchToolStore;
    const warnings: object[] = [];
    /** Search tools as another process has them. The configuration has two tools `f`. */
    const aProcess = (saltKey = 'salt', rows = store): SearchTools =>
      createSearchTools({
        configured: [fromFile('f1'), fromFile('f2')],
        readParams: (params) =>
          Object.fromEntries(
            Object.entries(params).map(([name, value]) => [name, value === 'os.environ/KEY' ? null : value]),
          ),
        store: rows,
        salt: { current: new Secret(saltKey), former: [] },
        log: { warn: (facts) => void warnings.push(facts) },
      });
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).searchTools;
    });
    afterEach(async () => {
      warnings.length = 0;
      await scratch.clear();
    });
    afterAll(() => scratch.remove());

    it('returns rows unchanged, oldest first; refuses used ids and names; changes and removes rows', async () => {
      const two = aRow({ id: 'two', name: 'm', info: null, createdAt: LATER });
      await store.add(two);
      await store.add(aRow());
      expect(await store.all(null)).toEqual([aRow(), two]);
      await expect(store.add(aRow({ name: 'o' }))).rejects.toThrow(Conflict);
      await expect(store.add(aRow({ id: 'three' }))).rejects.toThrow(
        new Conflict('Search tool with name n already exists'),
      );
      await expect(store.change('two', (row) => ({ ...row, name: 'n' }))).rejects.toThrow(Conflict);
      expect((await store.change('one', (row) => ({ ...row, name: 'o' })))?.after).toEqual(aRow({ name: 'o' }));
      expect(await store.remove(['one', 'three'])).toEqual([aRow({ name: 'o' })]);
      expect(await store.all(null)).toEqual([two]);
    });

    it('stores params encrypted; a process with another salt key cannot read them, but can replace all of them', async () => {
      await aProcess().add(DRAFT, BY);
      expect(JSON.stringify(await store.find('one'))).not.toContain('sk-search');
      const withOtherKey = aProcess('other');
      await withOtherKey.refresh();
      await withOtherKey.refresh();
      expect(withOtherKey.named('n')).toMatchObject([{ id: 'one', params: {} }]);
      expect(withOtherKey.accountFault('one')).toBe(
        'The parameters of the search tool n were encrypted with another salt key.',
      );
      expect(warnings).toEqual([{ id: 'one' }]);
      await expect(withOtherKey.change('one', { name: 'm' }, BY)).rejects.toThrow(Conflict);
      const params = { search_provider: 'brave' };
      expect(await withOtherKey.change('one', { params }, BY)).toMatchObject({ params });
      expect(withOtherKey.accountFault('one')).toBeNull();
    });

    it('lists params with references to variables; tools of one name take turns, and have the values of variables', async () => {
      const tools = aProcess();
      const added = await tools.add(DRAFT, BY);
      expect(added).toEqual({ ...DRAFT, isFromConfig: false, createdAt: NOW, updatedAt: NOW });
      expect(tools.list()).toEqual([fromFile('f1'), fromFile('f2'), added]);
      const turns = [tools.named('f'), tools.named('f')].map((found) => found.map(({ id }) => id).join(' '));
      expect(turns.toSorted()).toEqual(['f1 f2', 'f2 f1']);
      expect(tools.named('f')[0]?.params).toEqual({ search_provider: 'tavily', api_key: null });
      expect(tools.accountFault('f1')).toBe('The api_key of the search tool f names a variable that is not set.');
      expect(tools.named('nope')).toEqual([]);
    });

    it('has the changes of another process after a refresh', async () => {
      const [here, there] = [aProcess(), aProcess('salt', (await scratch.open()).searchTools)];
      await here.add(DRAFT, BY);
      await there.refresh();
      const params = { search_provider: 'tavily', api_key: 'REDACTED', timeout: 1 };
      await there.change('one', { name: 'b', params }, { now: LATER, by: 'admin' });
      await here.refresh();
      expect(here.named('b')).toMatchObject([{ params: { ...params, api_key: 'sk-search' }, updatedAt: LATER }]);
      expect(await here.remove('one')).toMatchObject({ name: 'b' });
      expect(await here.remove('one')).toBeNull();
      expect(await here.change('one', {}, BY)).toBeNull();
      await there.refresh();
      expect(there.named('b')).toEqual([]);
    });

    it('refuses names and changes of tools of the file; these hide stored tools with their names', async () => {
      const tools = aProcess();
      await expect(tools.add({ ...DRAFT, name: 'f' }, BY)).rejects.toThrow(Conflict);
      await expect(tools.change('f1', { name: 'x' }, BY)).rejects.toThrow(Conflict);
      await expect(tools.remove('f1')).rejects.toThrow(Conflict);
      await expect(tools.add({ ...DRAFT, params: {} }, BY)).rejects.toThrow(InvalidInput);
      await tools.add(DRAFT, BY);
      await expect(tools.change('one', { name: 'f' }, BY)).rejects.toThrow(Conflict);
      tools.configure([fromFile('f3', { name: 'n' })]);
      expect(tools.list().map(({ id }) => id)).toEqual(['f3']);
      tools.configure([]);
      expect(tools.list().map(({ id }) => id)).toEqual(['one']);
    });
  });
}
