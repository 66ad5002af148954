import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AgentStore } from '../../src/domain/a2a-agents/agent.ts';
import type { A2aAgents } from '../../src/domain/a2a-agents/agents.ts';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createA2aAgents } from '../../src/runtime/a2a-agents/agents.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const BY = { now: new Date('2026-01-02T03:04:05Z'), by: 'admin' };
const SECRETS = {
  staticHeaders: { authorization: 'Bearer header-secret' },
  params: { api_key: 'key-secret', cost_per_query: 1 },
  killSwitch: { url: 'http://h/', auth: { token: 'switch-secret' } },
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`agents over their store on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: AgentStore;
    const warnings: object[] = [];
    const aProcess = (saltKey = 'salt'): A2aAgents =>
      createA2aAgents({
        configured: [],
        store,
        salt: { current: new Secret(saltKey), former: [] },
        log: { warn: (facts) => void warnings.push(facts) },
      });
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).a2aAgents;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('another process finds an agent by id and by name after a refresh', async () => {
      const here = aProcess();
      const there = aProcess();
      const added = await here.add('one', { name: 'first', rpmLimit: 5, ...SECRETS }, BY);
      expect(there.find('one')).toBeNull();
      await there.refresh();
      expect(there.find('one')).toEqual(added);
      expect(there.find('first')).toEqual(added);
      expect(added).toMatchObject({ id: 'one', name: 'first', rpmLimit: 5, params: SECRETS.params, isReadable: true });
      expect(added.staticHeaders['authorization']?.reveal()).toBe('Bearer header-secret');
      await there.remove('one');
      await here.refresh();
      expect(here.list()).toEqual([]);
    });

    it('names are unique, and an unknown id changes nothing', async () => {
      const agents = aProcess();
      await agents.add('one', { name: 'first' }, BY);
      await agents.add('two', { name: 'second' }, BY);
      await expect(agents.add('three', { name: 'first' }, BY)).rejects.toThrow(Conflict);
      await expect(agents.change('two', { name: 'first' }, BY)).rejects.toThrow(Conflict);
      await expect(agents.change('two', { name: '' }, BY)).rejects.toThrow(InvalidInput);
      expect(await agents.change('three', {}, BY)).toBeNull();
      expect(await agents.remove('three')).toBeNull();
      expect(agents.list().map(({ name }) => name)).toEqual(['first', 'second']);
    });

    it('masked and redacted secrets of a change keep the stored values', async () => {
      const agents = aProcess();
      await agents.add('one', { name: 'first', ...SECRETS }, BY);
      const patch = {
        staticHeaders: { authorization: '*****', 'x-new': 'n' },
        params: { api_key: 'REDACTED', cost_per_query: 2 },
        killSwitch: { url: 'http://other/', auth: { token: 'REDACTED' } },
      };
      const changed = await agents.change('one', patch, BY);
      expect(changed?.staticHeaders['authorization']?.reveal()).toBe('Bearer header-secret');
      expect(changed?.staticHeaders['x-new']?.reveal()).toBe('n');
      expect(changed?.params).toEqual({ api_key: 'key-secret', cost_per_query: 2 });
      expect(changed?.killSwitch).toEqual({ url: 'http://other/', auth: { token: 'switch-secret' } });
    });

    it('secrets are encrypted; a process with another salt key does not lose them', async () => {
      await aProcess().add('one', { name: 'first', ...SECRETS }, BY);
      const row = JSON.stringify(await store.find('one'));
      for (const secret of ['header-secret', 'key-secret', 'switch-secret']) expect(row).not.toContain(secret);
      const withOtherSalt = aProcess('other');
      await withOtherSalt.refresh();
      await withOtherSalt.refresh();
      expect(withOtherSalt.find('one')).toMatchObject({ isReadable: false, params: {}, staticHeaders: {} });
      // One warning for two refreshes.
      expect(warnings).toEqual([{ id: 'one' }]);
      await expect(withOtherSalt.change('one', { name: 'other' }, BY)).rejects.toThrow(Conflict);
      const replaced = await withOtherSalt.change('one', { ...SECRETS, name: 'other' }, BY);
      expect(replaced).toMatchObject({ name: 'other', isReadable: true });
    });
  });
