import { describe, expect, it } from 'vitest';
import type { BudgetAlert } from '../../../src/domain/budgets/budget-alert.ts';
import type { AgentChange, CodingAgent } from '../../../src/domain/coding-agents/coding-agent.ts';
import type { LensRun, LensState } from '../../../src/domain/lens/lens.ts';
import type { LensFinding } from '../../../src/domain/lens/store.ts';
import type { Stores } from '../../../src/persistence/stores.ts';
import { feedLinks } from '../../../src/startup/feed-links.ts';
import { aSummary } from '../../support/trace-summary.ts';

const review = (executionId: string) => ({ executionId });
const state = {
  lens: { id: 'lens' },
  run: { id: 'run', lensId: 'lens', reviews: ['a', 'b', 'c'].map(review) },
  findings: [{ id: 'found', title: 'now' }],
} as unknown as LensState;
const summary = aSummary({ traceRef: 'ref' });
const agent = { id: 'agent' } as CodingAgent;
const stores = {
  codingAgents: { findMany: async (ids: readonly string[]) => [agent].filter(({ id }) => ids.includes(id)) },
  lenses: { find: async (id: string) => (id === 'lens' ? state : null) },
  spend: { findBySpans: async (keys: readonly string[]) => keys },
  traces: {
    findSummaries: async (_visibility: unknown, traceId: string, traceRef: string) =>
      traceId === summary.traceId && traceRef === 'ref' ? [summary] : [],
  },
} as unknown as Stores;
const links = feedLinks(stores);

const aRun = (overrides: Partial<LensRun>): LensRun => ({ ...state.run, ...overrides });
const refsOf = (...runs: readonly LensRun[]) => runs.map((run) => links.lensRun?.refOf(run) ?? '');

describe('links of live feeds', () => {
  it('find traces, without deleted ones', async () => {
    const refs = [summary, aSummary({ traceRef: 'gone' })].map((shown) => links.trace?.refOf({ summary: shown }) ?? '');
    expect(await links.trace?.read(refs)).toEqual([{ summary }]);
  });

  it('find a run with the reviews that its ref names; earlier runs and runs of deleted lenses are skipped', async () => {
    const withSomeReviews = aRun({ reviews: state.run.reviews.slice(1) });
    const withoutReviews = aRun({ reviews: [] });
    const earlier = aRun({ id: 'earlier' });
    const ofDeletedLens = aRun({ lensId: 'deleted' });
    expect(await links.lensRun?.read(refsOf(withSomeReviews, withoutReviews, earlier, ofDeletedLens))).toEqual([
      withSomeReviews,
      withoutReviews,
    ]);
  });

  it('find a run with all of its reviews when its event has too many to name', async () => {
    const many = aRun({ reviews: Array.from({ length: 500 }, () => state.run.reviews.slice(0, 1)).flat() });
    const [ref = ''] = refsOf(many);
    expect(ref).toBe('["lens","run",null]');
    expect(await links.lensRun?.read([ref])).toEqual([state.run]);
  });

  it('find findings and coding agents, and mark deleted agents', async () => {
    const finding = { lensId: 'lens', finding: { id: 'found', title: 'before' } } as LensFinding;
    const refs = [finding, { ...finding, lensId: 'deleted' }].map((shown) => links.finding?.refOf(shown) ?? '');
    expect(await links.finding?.read(refs)).toEqual([{ lensId: 'lens', finding: state.findings[0] }]);
    const changes: readonly AgentChange[] = [
      { id: 'agent', agent },
      { id: 'deleted', agent: null },
    ];
    expect(await links.codingAgent?.read(changes.map((change) => links.codingAgent?.refOf(change) ?? ''))).toEqual(
      changes,
    );
  });

  it('contain a budget alert unchanged', async () => {
    const alert: BudgetAlert = {
      kind: 'soft_budget',
      at: new Date(5),
      scope: 'team',
      id: 't',
      message: 'Exceeded.',
      keyHash: null,
    };
    expect(await links.budgetAlert?.read([links.budgetAlert.refOf(alert)])).toEqual([alert]);
  });
});
