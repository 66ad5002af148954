import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import type { GuardrailDefinition } from '../../src/domain/guardrails/definition.ts';
import type { Guardrails } from '../../src/domain/guardrails/guardrails.ts';
import type { GuardrailStore, StoredGuardrail } from '../../src/domain/guardrails/stored-guardrail.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createGuardrails } from '../../src/runtime/guardrails/guardrails.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');
const BY = { now: NOW, by: 'admin' };

const aRow = (overrides: Partial<StoredGuardrail> = {}): StoredGuardrail => ({
  id: 'one',
  name: 'words',
  kind: 'litellm_content_filter',
  modes: ['pre_call', 'post_call'],
  defaultOn: true,
  sealed: 'sealed',
  info: { a: 1 },
  teamId: 't',
  createdAt: NOW,
  createdBy: 'admin',
  updatedAt: NOW,
  updatedBy: 'admin',
  ...overrides,
});

const PARAMS = { guardrail: 'generic_guardrail_api', mode: 'pre_call', api_key: 'sk-guard', api_base: 'http://h/' };
const DRAFT = { id: 'one', name: 'remote', params: PARAMS, info: null, teamId: null };
const FROM_FILE: GuardrailDefinition = {
  id: 'f',
  name: 'file',
  kind: 'presidio',
  modes: ['pre_call'],
  defaultOn: false,
  params: { guardrail: 'presidio', mode: 'pre_call', api_key: 'os.environ/KEY' },
  info: null,
  isFromConfig: true,
  teamId: null,
  createdAt: null,
  updatedAt: null,
};

/** Contract of every GuardrailStore, and of the guardrails of several processes over one store. */
export function guardrailStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`GuardrailStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: GuardrailStore;
    const warnings: object[] = [];
    const aProcess = (saltKey = 'salt', guardrailStore = store): Guardrails =>
      createGuardrails({
        configured: [FROM_FILE],
        readParams: (params) => ({ ...params, resolved: true }),
        store: guardrailStore,
        salt: { current: new Secret(saltKey), former: [] },
        log: { warn: (facts) => void warnings.push(facts) },
      });
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).guardrails;
    });
    afterEach(async () => {
      warnings.length = 0;
      await scratch.clear();
    });
    afterAll(() => scratch.remove());

    it('returns a guardrail as it was added, and refuses its id and its name a second time', async () => {
      await store.add(aRow());
      expect(await store.find('one')).toEqual(aRow());
      await expect(store.add(aRow({ name: 'other' }))).rejects.toThrow(Conflict);
      await expect(store.add(aRow({ id: 'two' }))).rejects.toThrow(
        new Conflict("The name 'words' or the id two is that of another guardrail"),
      );
      expect(await store.find('two')).toBeNull();
    });

    it('lists, changes and removes guardrails', async () => {
      const two = aRow({ id: 'two', name: 'b', info: null, teamId: null, createdAt: LATER });
      await store.add(two);
      await store.add(aRow());
      expect(await store.all(null)).toEqual([aRow(), two]);
      const changed = await store.change('one', (row) => ({ ...row, name: 'c', modes: ['logging_only'] }));
      expect(changed?.after).toEqual(aRow({ name: 'c', modes: ['logging_only'] }));
      await expect(store.change('one', (row) => ({ ...row, name: 'b' }))).rejects.toThrow(Conflict);
      expect(await store.change('three', (row) => row)).toBeNull();
      expect(await store.remove(['one', 'three'])).toEqual([aRow({ name: 'c', modes: ['logging_only'] })]);
      expect(await store.all(null)).toEqual([two]);
    });

    it('keeps params encrypted; a process with another salt key reports the guardrail as unreadable', async () => {
      await aProcess().add({ ...DRAFT, params: { ...PARAMS, default_on: true } }, BY);
      expect(JSON.stringify(await store.find('one'))).not.toContain('sk-guard');
      const withOtherKey = aProcess('other');
      await withOtherKey.refresh();
      await withOtherKey.refresh();
      const bare = { guardrail: 'generic_guardrail_api', mode: ['pre_call'], default_on: true };
      expect(withOtherKey.list()[1]).toMatchObject({ kind: 'generic_guardrail_api', defaultOn: true, params: bare });
      expect(withOtherKey.definitions()[1]).toMatchObject({ kind: 'unreadable', name: 'remote', defaultOn: true });
      expect(warnings).toEqual([{ id: 'one' }]);
    });

    it('a process with another salt key cannot change single params, and may replace all of them', async () => {
      await aProcess().add(DRAFT, BY);
      const before = await store.find('one');
      const withOtherKey = aProcess('other');
      const refused = withOtherKey.change('one', { changedParams: { timeout: 3 } }, BY);
      await expect(refused).rejects.toThrow(
        new Conflict(
          'The parameters of this guardrail were encrypted with another salt key. Send all of them, with secrets.',
        ),
      );
      await expect(withOtherKey.change('one', { params: { ...PARAMS, api_key: 'REDACTED' } }, BY)).rejects.toThrow(
        Conflict,
      );
      expect(await store.find('one')).toEqual(before);
      expect(await withOtherKey.change('one', { params: PARAMS }, BY)).toMatchObject({ params: PARAMS });
    });

    it('shows params as configured, and runs guardrails with the values of their variables', async () => {
      const guardrails = aProcess();
      const added = await guardrails.add(DRAFT, BY);
      expect(added).toEqual({
        ...DRAFT,
        kind: 'generic_guardrail_api',
        modes: ['pre_call'],
        defaultOn: false,
        isFromConfig: false,
        createdAt: NOW,
        updatedAt: NOW,
      });
      expect(guardrails.list()).toEqual([FROM_FILE, added]);
      expect(guardrails.definitions().map(({ params }) => params)).toEqual([
        { ...FROM_FILE.params, resolved: true },
        { ...PARAMS, resolved: true },
      ]);
    });

    it('returns the same list object until a guardrail changes', async () => {
      const guardrails = aProcess();
      const empty = guardrails.definitions();
      await guardrails.refresh();
      expect(guardrails.definitions()).toBe(empty);
      await guardrails.add(DRAFT, BY);
      const added = guardrails.definitions();
      expect(added).toHaveLength(2);
      await guardrails.refresh();
      expect(guardrails.definitions()).toBe(added);
      await guardrails.change('one', { info: { b: 2 } }, { now: LATER, by: 'admin' });
      const changed = guardrails.definitions();
      expect(changed[1]?.info).toEqual({ b: 2 });
      expect(changed[0]).toBe(added[0]);
      expect(guardrails.definitions()).toBe(changed);
      guardrails.configure([]);
      expect(guardrails.definitions().map(({ id }) => id)).toEqual(['one']);
    });

    it('uses the changes of another process after a refresh', async () => {
      const [here, there] = [aProcess(), aProcess('salt', (await scratch.open()).guardrails)];
      await here.add(DRAFT, BY);
      await there.refresh();
      expect(there.definitions().map(({ name }) => name)).toEqual(['file', 'remote']);
      await there.change('one', { name: 'b', changedParams: { api_key: 'REDACTED', timeout: 3 } }, BY);
      await here.refresh();
      expect(here.list()[1]).toMatchObject({ name: 'b', params: { ...PARAMS, timeout: 3 } });
      expect(await here.remove('one')).toMatchObject({ name: 'b' });
      expect(await here.remove('one')).toBeNull();
      expect(await here.change('one', {}, BY)).toBeNull();
      await there.refresh();
      expect(there.list()).toEqual([FROM_FILE]);
    });

    it('refuses the name of a guardrail of the configuration file, and settings that cannot run', async () => {
      const guardrails = aProcess();
      const nameConflict = new Conflict("The name 'file' is that of a guardrail of the configuration file");
      await expect(guardrails.add({ ...DRAFT, name: 'file' }, BY)).rejects.toThrow(nameConflict);
      await guardrails.add(DRAFT, BY);
      await expect(guardrails.change('one', { name: 'file' }, BY)).rejects.toThrow(nameConflict);
      const refused = 'Guardrail configuration error: ';
      for (const [patch, message] of [
        [{ changedParams: { guardrail: 'zzz' } }, 'Unsupported guardrail: zzz'],
        [{ params: { mode: 'pre_call' } }, 'litellm_params.guardrail must name the kind of the guardrail'],
        [{ changedParams: { mode: 'pre_mcp_call' } }, 'litellm_params.mode names no mode in which guardrails run here'],
        [{ changedParams: { default_on: 'x' } }, 'litellm_params.default_on is neither true nor false'],
        [{ name: ' ' }, 'guardrail_name must not be blank'],
      ] as const)
        // oxlint-disable-next-line no-await-in-loop -- the changes are sequential
        await expect(guardrails.change('one', patch, BY)).rejects.toThrow(new InvalidInput(`${refused}${message}`));
      expect(guardrails.list()[1]).toMatchObject(DRAFT);
    });
  });
}
