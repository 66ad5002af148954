import type { BudgetAlert } from './budgets/budget-alert.ts';
import type { CatalogChange } from './catalog/changes.ts';
import type { AgentChange } from './coding-agents/coding-agent.ts';
import type { ActivityDelta } from './gateway-activity/gateway-activity.ts';
import type { Job } from './jobs/job.ts';
import type { LensRun } from './lens/lens.ts';
import type { LensFinding } from './lens/store.ts';
import type { PollableStream } from './pollable-stream.ts';
import type { SettingsChange } from './settings/configuration.ts';
import type { SpendRow } from './spend/spend-row.ts';
import type { TraceChange } from './traces/trace.ts';

/** Event type of each topic. Events contain the data, not ids, so that subscribers need no query. */
export interface Topics {
  /** Changes of the catalog by one new snapshot. Larger numbers of changes are published as several events. */
  catalogChange: CatalogChanges;
  /** A trace after spans of it were stored. */
  trace: TraceChange;
  /** Settings after their change. */
  settingsChange: SettingsChange;
  /** Counts of requests that this process answered; published at most once a second. */
  activity: ActivityDelta;
  /** A run of a lens after a change, with the reviews since the last event. */
  lensRun: LensRun;
  /** A background job after this process changed its state. */
  job: Job;
  /** A coding agent after its state changed, and after it was deleted. */
  codingAgent: AgentChange;
  /** A finding after a run or a person changed it. */
  finding: LensFinding;
  /** A call that was settled. */
  spend: SpendRow;
  /** A budget that refused a call, or a soft budget that was crossed. */
  budgetAlert: BudgetAlert;
}

/** Link that carries events of a topic to other processes as short refs. The other processes read the data by ref. */
export interface EventLink<Event> {
  /** At most a few hundred bytes. It has no content of calls. */
  refOf(event: Event): string;
  /** The events of these refs, read from the store. A ref whose row was removed has no event. */
  read(refs: readonly string[]): Promise<readonly Event[]>;
}

/** Links by topic. Events of other topics stay in their process. */
export type EventLinks = { readonly [Topic in keyof Topics]?: EventLink<Topics[Topic]> };

/** Ref of a trace in the `EventLink` of traces. */
export const traceLinkRef = ({ traceId, traceRef }: { readonly traceId: string; readonly traceRef: string }): string =>
  `${traceId} ${traceRef}`;

/** Changes of the catalog by one snapshot, at most `MAX_CHANGES_PER_EVENT`. */
export interface CatalogChanges {
  readonly at: Date;
  /** The snapshot that made the changes. */
  readonly snapshotId: string;
  readonly changes: readonly CatalogChange[];
}

/** An event as a subscriber receives it. All subscribers that missed no event receive the same object. */
export interface Delivery<Event> {
  readonly event: Event;
  /**
   * Event id, unique within its topic, also across processes. `subscribe` with this id as `after` delivers the later
   * events.
   */
  readonly id: string;
  /** Events dropped since the last delivery, because this subscriber read too slowly. */
  readonly missed: number;
}

/**
 * Fan-out of events to subscribers in this process. Each subscriber has its own bounded queue: when it is full, the
 * oldest event is dropped and counted. So a slow subscriber uses a fixed amount of memory and does not delay others.
 */
export interface Bus {
  publish<Topic extends keyof Topics>(topic: Topic, event: Topics[Topic]): void;
  /**
   * Removes matching events from all queues and from the replay buffer, so that they are neither delivered nor
   * replayed. `refs` are the link refs of the events, for other processes.
   */
  withdraw<Topic extends keyof Topics>(
    topic: Topic,
    unwanted: (event: Topics[Topic]) => boolean,
    refs: readonly string[],
  ): void;
  /**
   * The stream ends when its consumer returns, the signal fires, or the process drains.
   *
   * `after` is the id of an event; the stream begins with the events after it. A topic keeps its latest few hundred
   * events in memory. Throws Conflict when `after` is none of them.
   */
  subscribe<Topic extends keyof Topics>(
    topic: Topic,
    options: {
      readonly wanted?: (event: Topics[Topic]) => boolean;
      readonly after?: string | null;
      readonly signal?: AbortSignal;
    },
  ): PollableStream<Delivery<Topics[Topic]>>;
  /** Current number of subscribers in this process, plus one if any other process has subscribers. */
  subscriberCount(): number;
}
