import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ALL_RUNS,
  type EntryChange,
  MAX_ENTRIES,
  MAX_RUN_SIZE,
  type WorkflowEvent,
  type WorkflowMessage,
  type WorkflowRun,
  type WorkflowStore,
} from '../../src/domain/workflows/workflow-run.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 30, 3, 4, second));

const aRun = (id: string, overrides: Partial<WorkflowRun> = {}): WorkflowRun => ({
  id,
  sessionId: `s-${id}`,
  type: 'build',
  status: 'pending',
  keyHash: 'k1',
  input: null,
  output: null,
  metadata: null,
  size: 0,
  eventCount: 0,
  messageCount: 0,
  createdAt: at(1),
  createdBy: 'u',
  updatedAt: at(1),
  updatedBy: 'u',
  ...overrides,
});
const anEvent = (runId: string, more: Partial<WorkflowEvent> = {}): Omit<WorkflowEvent, 'sequence'> => ({
  id: 'e',
  runId,
  type: 'step.started',
  stepName: 'plan',
  data: null,
  at: at(5),
  ...more,
});
const aMessage = (runId: string, more: Partial<WorkflowMessage> = {}): Omit<WorkflowMessage, 'sequence'> => ({
  id: 'm',
  runId,
  role: 'user',
  content: 'hello',
  sessionId: null,
  at: at(5),
  ...more,
});
const CHANGE: EntryChange = { status: null, size: 10, by: 'w' };
const FIRST = { after: -1, limit: 100 };

/** Contract of every WorkflowStore. */
export function workflowStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`WorkflowStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: WorkflowStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).workflows;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns runs as they were added and changed', async () => {
      const full = aRun('full', {
        input: { b: 1, a: [2] },
        output: { x: '\u{1F600}' },
        metadata: {},
        size: 5_000_000_000,
      });
      await store.add(full, aRun('bare'));
      expect(await store.find('full')).toEqual(full);
      expect(await store.find('bare')).toEqual(aRun('bare'));
      const changed = await store.change('bare', (row) => ({ ...row, status: 'completed', output: { a: 1 } }));
      expect(changed?.after).toEqual(aRun('bare', { status: 'completed', output: { a: 1 } }));
      expect(await store.sizeOf('k1')).toBe(5_000_000_000);
      expect(await store.sizeOf('k2')).toBe(0);
    });

    it('filters by key, kind and statuses', async () => {
      await store.add(
        aRun('a'),
        aRun('b', { keyHash: 'k2', status: 'running' }),
        aRun('c', { type: 'other', status: 'paused' }),
      );
      const found = async (filter: Partial<typeof ALL_RUNS>): Promise<readonly string[]> =>
        (await store.all({ ...ALL_RUNS, ...filter })).map(({ id }) => id);
      expect(await found({})).toEqual(['a', 'b', 'c']);
      expect(await found({ keyHash: 'k1' })).toEqual(['a', 'c']);
      expect(await found({ type: 'other' })).toEqual(['c']);
      expect(await found({ statuses: ['running', 'paused'] })).toEqual(['b', 'c']);
      expect(await found({ statuses: [] })).toEqual([]);
    });

    it('numbers events and messages of a run, and changes the run with them', async () => {
      await store.add(aRun('r'), aRun('other'));
      expect(await store.appendEvent(anEvent('r', { data: { a: 1 } }), { ...CHANGE, status: 'running' })).toEqual({
        ...anEvent('r', { data: { a: 1 } }),
        sequence: 0,
      });
      await store.appendEvent(anEvent('r', { id: 'e2', type: 'note' }), CHANGE);
      await store.appendMessage(aMessage('r', { sessionId: 's' }), CHANGE);
      await store.appendEvent(anEvent('other', { id: 'e3' }), CHANGE);
      expect(await store.find('r')).toEqual(
        aRun('r', { status: 'running', size: 30, eventCount: 2, messageCount: 1, updatedAt: at(5), updatedBy: 'w' }),
      );
      expect(await store.events({ runId: 'r', ...FIRST })).toEqual([
        { ...anEvent('r', { data: { a: 1 } }), sequence: 0 },
        { ...anEvent('r', { id: 'e2', type: 'note' }), sequence: 1 },
      ]);
      expect(await store.events({ runId: 'r', after: 0, limit: 1 })).toMatchObject([{ id: 'e2' }]);
      expect(await store.messages({ runId: 'r', ...FIRST })).toEqual([
        { ...aMessage('r', { sessionId: 's' }), sequence: 0 },
      ]);
      expect(await store.lastEvent('r')).toMatchObject({ id: 'e2' });
      expect(await store.lastEvent('nope')).toBeNull();
    });

    it('numbers concurrent events without gaps', async () => {
      await store.add(aRun('r'));
      const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
      await Promise.all(ids.map((id) => store.appendEvent(anEvent('r', { id }), CHANGE)));
      const sequences = (await store.events({ runId: 'r', ...FIRST })).map(({ sequence }) => sequence);
      expect(sequences).toEqual(ids.map((_, index) => index));
    });

    it('appends nothing to a full or unknown run', async () => {
      await store.add(
        aRun('many', { eventCount: MAX_ENTRIES, messageCount: MAX_ENTRIES }),
        aRun('large', { size: MAX_RUN_SIZE - 9 }),
      );
      for (const runId of ['many', 'large', 'nope']) {
        expect(await store.appendEvent(anEvent(runId), CHANGE)).toBeNull();
        expect(await store.appendMessage(aMessage(runId), CHANGE)).toBeNull();
      }
      expect(await store.find('many')).toEqual(aRun('many', { eventCount: MAX_ENTRIES, messageCount: MAX_ENTRIES }));
    });

    it('leaves no entry of a run that is removed while entries are appended', async () => {
      for (let round = 0; round < 20; round += 1) {
        const runId = `r${round}`;
        await store.add(aRun(runId));
        const append = (index: number) => store.appendEvent(anEvent(runId, { id: `e${round}-${index}` }), CHANGE);
        const message = (index: number) => store.appendMessage(aMessage(runId, { id: `m${round}-${index}` }), CHANGE);
        await Promise.all([append(0), message(0), append(1), store.removeRun(runId), append(2), message(1), append(3)]);
        expect([
          await store.find(runId),
          await store.events({ runId, ...FIRST }),
          await store.messages({ runId, ...FIRST }),
        ]).toEqual([null, [], []]);
      }
    });

    it('removes a run with its events and messages', async () => {
      await store.add(aRun('r'), aRun('kept'));
      await store.appendEvent(anEvent('r'), CHANGE);
      await store.appendMessage(aMessage('r'), CHANGE);
      await store.appendMessage(aMessage('kept'), CHANGE);
      expect(await store.removeRun('r')).toBe(true);
      expect(await store.removeRun('r')).toBe(false);
      expect(await store.events({ runId: 'r', ...FIRST })).toEqual([]);
      expect(await store.messages({ runId: 'r', ...FIRST })).toEqual([]);
      expect(await store.messages({ runId: 'kept', ...FIRST })).toHaveLength(1);
    });
  });
}
