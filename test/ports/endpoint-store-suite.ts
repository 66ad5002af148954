import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import { DEFAULT_ENDPOINT, type EndpointStore, type StoredEndpoint } from '../../src/domain/pass-through/endpoint.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createPassThroughEndpoints } from '../../src/runtime/pass-through/endpoints.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const BY = { now: NOW, by: 'admin' };

const aRow = (overrides: Partial<StoredEndpoint> = {}): StoredEndpoint => ({
  id: 'one',
  path: '/d/one',
  target: 'https://target.example/a?b=c',
  sealedHeaders: 'sealed',
  settings: {
    defaultQuery: { k: 'v' },
    includeSubpath: true,
    costPerRequest: 0.25,
    timeoutSeconds: 1.5,
    auth: false,
    guardrails: { g: null },
    methods: ['GET'],
    forwardHeaders: true,
  },
  createdAt: NOW,
  createdBy: 'admin',
  updatedAt: NOW,
  updatedBy: 'admin',
  ...overrides,
});

/** Contract of every EndpointStore, and of the pass-through endpoints of several processes over one store. */
export function endpointStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`EndpointStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: EndpointStore;
    const warnings: object[] = [];
    const aProcess = (adminKey = 'sk-admin', endpointStore = store): PassThroughEndpoints =>
      createPassThroughEndpoints({
        configured: [],
        timeoutSeconds: 600,
        store: endpointStore,
        secrets: { current: new Secret(adminKey), former: [] },
        log: { warn: (facts) => void warnings.push(facts) },
      });
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).passThrough;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns an endpoint as it was added, and refuses its id a second time', async () => {
      await store.add(aRow());
      expect(await store.find('one')).toEqual(aRow());
      await expect(store.add(aRow())).rejects.toThrow(Conflict);
      expect(await store.find('two')).toBeNull();
    });

    it('lists, changes and removes endpoints', async () => {
      const later = aRow({ id: 'two', createdAt: new Date(NOW.getTime() + 1) });
      await store.add(later);
      await store.add(aRow());
      expect(await store.all(null)).toEqual([aRow(), later]);
      const settings = { ...DEFAULT_ENDPOINT };
      const changed = await store.change('one', (row) => ({ ...row, path: '/d/other', settings }));
      expect(changed?.after).toEqual(aRow({ path: '/d/other', settings }));
      expect(await store.change('three', (row) => row)).toBeNull();
      expect(await store.remove(['one', 'three'])).toEqual([aRow({ path: '/d/other', settings })]);
      expect(await store.all(null)).toEqual([later]);
    });

    it('keeps headers encrypted; a process with another admin key does not serve the endpoint', async () => {
      const headers = { Authorization: 'Bearer target-secret' };
      await aProcess().add({ id: 'one', path: '/d/one', target: 'http://h/', headers }, BY);
      expect(JSON.stringify(await store.find('one'))).not.toContain('target-secret');
      const withOtherKey = aProcess('sk-other');
      await withOtherKey.refresh();
      await withOtherKey.refresh();
      expect(withOtherKey.list()[0]?.headers).toBeNull();
      expect(withOtherKey.find('GET', '/d/one')).toEqual({ kind: 'none' });
      // One warning for two refreshes.
      expect(warnings).toEqual([{ id: 'one' }]);
    });

    it('a process with another admin key cannot change an endpoint without its headers', async () => {
      const headers = { Authorization: 'Bearer target-secret' };
      await aProcess().add({ id: 'one', path: '/d/one', target: 'http://h/', headers }, BY);
      const before = await store.find('one');
      const withOtherKey = aProcess('sk-other');
      const refusal = new Conflict(
        'The headers of this endpoint were encrypted with another admin key. Send all of them, with secrets.',
      );
      for (const patch of [{ path: '/d/two' }, { headers: { Authorization: '*****' } }])
        await expect(withOtherKey.change('one', patch, BY)).rejects.toThrow(refusal);
      expect(await store.find('one')).toEqual(before);
      await withOtherKey.change('one', { headers: { Authorization: 'Bearer new' } }, BY);
      expect(withOtherKey.list()[0]?.headers?.['Authorization']?.reveal()).toBe('Bearer new');
    });

    it('serves changes of another process after a refresh', async () => {
      const [here, there] = [aProcess(), aProcess('sk-admin', (await scratch.open()).passThrough)];
      const headers = { Authorization: 'Bearer first' };
      await here.add({ id: 'one', path: '/d/one', target: 'http://h/', headers }, BY);
      await there.refresh();
      expect(there.find('GET', '/d/one')).toMatchObject({ kind: 'endpoint', endpoint: { id: 'one' } });
      await there.change('one', { path: '/d/two', headers: { Authorization: '*****' } }, BY);
      await here.refresh();
      expect(here.find('GET', '/d/one')).toEqual({ kind: 'none' });
      expect(here.list()[0]?.headers?.['Authorization']?.reveal()).toBe('Bearer first');
      await here.remove('one');
      await there.refresh();
      expect(there.list()).toEqual([]);
    });
  });
}
