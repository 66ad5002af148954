import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CodingAgent, CodingAgentStore } from '../../src/domain/coding-agents/coding-agent.ts';
import { Conflict } from '../../src/domain/errors.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');

const anAgent = (overrides: Partial<CodingAgent> = {}): CodingAgent => ({
  id: 'bc_1',
  keyHash: 'a'.repeat(64),
  teamId: null,
  state: {
    name: 'Fix it',
    status: 'RUNNING',
    repository: 'https://code.example/o/r',
    ref: null,
    branchName: null,
    url: null,
    autoCreatePr: true,
    launchedAt: null,
  },
  createdAt: NOW,
  createdBy: 'user',
  updatedAt: NOW,
  updatedBy: 'user',
  ...overrides,
});

/** Contract of every CodingAgentStore. */
export function codingAgentStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`CodingAgentStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: CodingAgentStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).codingAgents;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns an agent as it was added; an agent has one owner', async () => {
      await store.add(anAgent());
      expect(await store.find('bc_1')).toEqual(anAgent());
      await expect(store.add(anAgent({ keyHash: 'b'.repeat(64) }))).rejects.toThrow(Conflict);
    });

    it('lists the agents that a reader may see', async () => {
      const ofTeam = anAgent({ id: 'bc_2', teamId: 't' });
      const ofOtherKey = anAgent({ id: 'bc_3', keyHash: 'b'.repeat(64) });
      await store.add(anAgent(), ofTeam, ofOtherKey);
      const ids = async (visible: Parameters<CodingAgentStore['all']>[0]['visible']) =>
        (await store.all({ visible })).map(({ id }) => id);
      expect(await ids({ kind: 'all' })).toEqual(['bc_1', 'bc_2', 'bc_3']);
      expect(await ids({ kind: 'team', teamId: 't' })).toEqual(['bc_2']);
      // A key sees the agents that it launched without a team.
      expect(await ids({ kind: 'key', keyHash: 'a'.repeat(64) })).toEqual(['bc_1']);
      const idsWith = async (filter: object) =>
        (await store.all({ visible: { kind: 'all' }, ...filter })).map(({ id }) => id);
      expect(await idsWith({ keyHash: 'b'.repeat(64) })).toEqual(['bc_3']);
      expect(await idsWith({ teamId: 't', keyHash: null })).toEqual(['bc_2']);
      expect(await idsWith({ teamId: 't\0' })).toEqual([]);
    });

    it('keeps a new state, and removes an agent', async () => {
      await store.add(anAgent());
      const state = { ...anAgent().state, status: 'FINISHED' };
      expect((await store.change('bc_1', (row) => ({ ...row, state })))?.after).toEqual(anAgent({ state }));
      expect(await store.find('bc_1')).toEqual(anAgent({ state }));
      expect(await store.remove(['bc_1', 'bc_9'])).toEqual([anAgent({ state })]);
      expect(await store.find('bc_1')).toBeNull();
    });
  });
}
