import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { DecisionOutcome, OutcomeStore } from '../../src/domain/decisions/outcome.ts';
import type { DecisionFilter, DecisionStore, StoredDecision } from '../../src/domain/decisions/stored-decision.ts';
import { Conflict } from '../../src/domain/errors.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const STAMPS = { createdAt: NOW, createdBy: 'user', updatedAt: NOW, updatedBy: 'user' };
const OWNER = { keyHash: 'a'.repeat(64), teamId: null };

const aDecision = (overrides: Partial<StoredDecision> = {}): StoredDecision => ({
  id: 'd1',
  callId: 'call-1',
  model: 'decider',
  ...OWNER,
  content: {
    traceId: 't1',
    spanId: 's1',
    upstream: 'typesafe/jev-latest',
    answeredBy: null,
    level: 'full',
    input: { text: 'nul \u0000, lone \ud800' },
    answers: [
      {
        question: { kind: 'predicate', name: 'late', instructions: 'Is it?', more: {}, rules: null },
        answer: { kind: 'predicate', probability: 0.1, more: {} },
      },
    ],
    usage: { inputTokens: 1, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  ...STAMPS,
  ...overrides,
});

const anOutcome = (overrides: Partial<DecisionOutcome> = {}): DecisionOutcome => ({
  id: 'd1.0',
  decisionId: 'd1',
  model: 'typesafe/jev-latest',
  kind: 'predicate',
  source: 'native',
  probabilities: [0.1, 0.9],
  outcome: 1,
  scope: 'platform',
  ...OWNER,
  ...STAMPS,
  ...overrides,
});

/** Contract of every DecisionStore and OutcomeStore. */
export function decisionStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`DecisionStore and OutcomeStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let decisions: DecisionStore;
    let outcomes: OutcomeStore;
    beforeAll(async () => {
      scratch = await engine.create();
      const stores = await scratch.open();
      decisions = stores.decisions;
      outcomes = stores.decisionOutcomes;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns a decision as it was added, and refuses its id a second time', async () => {
      await decisions.add(aDecision());
      expect(await decisions.find('d1')).toEqual(aDecision());
      await expect(decisions.add(aDecision())).rejects.toThrow(Conflict);
    });

    it('lists decisions by model and by period', async () => {
      const later = new Date(NOW.getTime() + 1);
      await decisions.add(
        aDecision(),
        aDecision({ id: 'd2', model: 'other' }),
        aDecision({ id: 'd3', createdAt: later, updatedAt: later }),
      );
      const idsWith = async (filter: Partial<DecisionFilter>) =>
        (await decisions.all({ visible: { kind: 'all' }, callId: null, before: null, ...filter })).map(({ id }) => id);
      expect(await idsWith({ model: 'other' })).toEqual(['d2']);
      expect(await idsWith({ since: later })).toEqual(['d3']);
      expect(await idsWith({ since: NOW, before: later })).toEqual(['d1', 'd2']);
      expect(await idsWith({ since: null, model: null })).toEqual(['d1', 'd2', 'd3']);
    });

    it('lists decisions by reader, call and age', async () => {
      const older = new Date(NOW.getTime() - 1);
      await decisions.add(
        aDecision({ createdAt: older }),
        aDecision({ id: 'd2', teamId: 't', callId: 'call-2' }),
        aDecision({ id: 'd3', keyHash: 'b'.repeat(64) }),
      );
      const ids = async (filter: Partial<DecisionFilter>) =>
        (await decisions.all({ visible: { kind: 'all' }, callId: null, before: null, ...filter })).map(({ id }) => id);
      expect(await ids({})).toEqual(['d1', 'd2', 'd3']);
      expect(await ids({ visible: { kind: 'team', teamId: 't' } })).toEqual(['d2']);
      expect(await ids({ visible: { kind: 'key', keyHash: OWNER.keyHash } })).toEqual(['d1']);
      expect(await ids({ callId: 'call-1' })).toEqual(['d1', 'd3']);
      expect(await ids({ before: NOW })).toEqual(['d1']);
    });

    it('reads the latest outcomes of each scope, and shares the limit among scopes', async () => {
      const dateAfter = (ms: number) => new Date(NOW.getTime() + ms);
      await outcomes.add(
        ...[1, 2, 3, 4, 5].map((ms) => anOutcome({ id: `flood-${ms}`, scope: 'key:a', updatedAt: dateAfter(ms) })),
        ...[1, 2].map((ms) => anOutcome({ id: `platform-${ms}`, updatedAt: dateAfter(-ms) })),
      );
      const ids = async (perScope: number, limit: number) =>
        (await outcomes.latest({ perScope, limit })).map(({ id }) => id);
      expect(await ids(9, 4)).toEqual(['flood-5', 'platform-1', 'flood-4', 'platform-2']);
      expect(await ids(1, 9)).toEqual(['flood-5', 'platform-1']);
      expect(await outcomes.latest({ perScope: 1, limit: 1 })).toEqual([
        anOutcome({ id: 'flood-5', scope: 'key:a', updatedAt: dateAfter(5) }),
      ]);
    });

    it('lists outcomes by their last change, and replaces one', async () => {
      const later = new Date(NOW.getTime() + 1);
      await outcomes.add(anOutcome(), anOutcome({ id: 'd2.0', updatedAt: later }));
      const list = async () =>
        (await outcomes.list({ filter: null, sort: 'updated_at', descending: true, limit: 9, from: 0 })).map(
          ({ id, outcome }) => [id, outcome],
        );
      expect(await list()).toEqual([
        ['d2.0', 1],
        ['d1.0', 1],
      ]);
      const latest = new Date(NOW.getTime() + 2);
      await outcomes.change('d1.0', (row) => ({ ...row, outcome: 0, updatedAt: latest }));
      expect(await outcomes.find('d1.0')).toEqual(anOutcome({ outcome: 0, updatedAt: latest }));
      expect(await list()).toEqual([
        ['d1.0', 0],
        ['d2.0', 1],
      ]);
    });
  });
}
