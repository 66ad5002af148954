import type { BudgetAlert } from '../domain/budgets/budget-alert.ts';
import { type EventLinks, traceLinkRef } from '../domain/bus.ts';
import type { LensState } from '../domain/lens/lens.ts';
import type { Stores } from '../persistence/stores.ts';

/**
 * Maximum number of reviews that the ref of a run names. A ref is the short text that other processes receive in place
 * of an event. A run with more reviews is read with all of its latest reviews.
 */
const MAX_NAMED_REVIEWS = 20;

/** `reviewed`: ids of the executions (reviewed agent runs) whose reviews are new; null for all. */
type RunRef = readonly [lensId: string, runId: string, reviewed: readonly string[] | null];
type FindingRef = readonly [lensId: string, findingId: string];

/**
 * Links that carry live feeds of the graph to other processes. Changes of the catalog and counts of requests have no
 * link: each process refreshes its own catalog and counts its own requests. Each process that reads settings again
 * publishes their changes itself.
 */
export const feedLinks = ({ codingAgents, jobs, lenses, spend, traces }: Stores): EventLinks => ({
  trace: traceLink(traces),
  spend: {
    refOf: ({ traceId, spanId }) => `${traceId}:${spanId}`,
    read: (refs) => spend.findBySpans(refs),
  },
  codingAgent: {
    refOf: ({ id }) => id,
    async read(refs) {
      const agents = new Map((await codingAgents.findMany(refs)).map((agent) => [agent.id, agent]));
      return refs.map((id) => ({ id, agent: agents.get(id) ?? null }));
    },
  },
  // The state at the time of the read; earlier states may be missed.
  job: {
    refOf: ({ id }) => id,
    read: (refs) => jobs.findMany([...new Set(refs)]),
  },
  lensRun: lensRunLink(lenses),
  finding: findingLink(lenses),
  budgetAlert: BUDGET_ALERT_LINK,
});

const traceLink = (traces: Stores['traces']): Required<EventLinks>['trace'] => ({
  refOf: ({ summary }) => traceLinkRef(summary),
  async read(refs) {
    const found = await Promise.all(
      refs.map((ref) => {
        const [traceId = '', traceRef = ''] = ref.split(' ');
        return traces.findSummaries({ kind: 'all' }, traceId, traceRef);
      }),
    );
    return found.flat().map((summary) => ({ summary }));
  },
});

const lensRunLink = (lenses: Stores['lenses']): Required<EventLinks>['lensRun'] => ({
  refOf({ lensId, id, reviews }) {
    const named = reviews.length > MAX_NAMED_REVIEWS ? null : reviews.map(({ executionId }) => executionId);
    return JSON.stringify([lensId, id, named] satisfies RunRef);
  },
  async read(refs) {
    const parsed = refs.map((ref) => JSON.parse(ref) as RunRef);
    const states = await lensesOf(
      lenses,
      parsed.map(([lensId]) => lensId),
    );
    return parsed.flatMap(([lensId, runId, reviewed]) => {
      const run = states.get(lensId)?.run;
      if (run?.id !== runId) return [];
      return [{ ...run, reviews: run.reviews.filter(({ executionId }) => reviewed?.includes(executionId) ?? true) }];
    });
  },
});

const findingLink = (lenses: Stores['lenses']): Required<EventLinks>['finding'] => ({
  refOf: ({ lensId, finding }) => JSON.stringify([lensId, finding.id] satisfies FindingRef),
  async read(refs) {
    const parsed = refs.map((ref) => JSON.parse(ref) as FindingRef);
    const states = await lensesOf(
      lenses,
      parsed.map(([lensId]) => lensId),
    );
    return parsed.flatMap(([lensId, findingId]) => {
      const finding = states.get(lensId)?.findings.find(({ id }) => id === findingId);
      return finding === undefined ? [] : [{ lensId, finding }];
    });
  },
});

async function lensesOf(lenses: Stores['lenses'], ids: readonly string[]): Promise<ReadonlyMap<string, LensState>> {
  const found = await Promise.all([...new Set(ids)].map((id) => lenses.find(id)));
  return new Map(found.flatMap((state) => (state === null ? [] : [[state.lens.id, state] as const])));
}

/** Alerts are not stored: the ref is the alert itself, as JSON. */
const BUDGET_ALERT_LINK: Required<EventLinks>['budgetAlert'] = {
  refOf: (alert) => JSON.stringify(alert),
  read: (refs) =>
    Promise.resolve(
      refs.map((ref) => {
        const alert = JSON.parse(ref) as Omit<BudgetAlert, 'at'> & { readonly at: string };
        return { ...alert, at: new Date(alert.at) };
      }),
    ),
};
