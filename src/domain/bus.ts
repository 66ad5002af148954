import type { CatalogChange } from './catalog/changes.ts';
import type { PromptStream } from './pollable-stream.ts';
import type { TraceChange } from './traces/trace.ts';

/** Every live topic and what its events carry: facts, not ids, so that nothing needs loading. */
export interface Topics {
  /** Changes of the catalog that came with one state of it; a large step is told in several events. */
  catalogChange: CatalogNews;
  /** A trace as it stands after spans of it were stored. */
  trace: TraceChange;
}

/** Some of what changed in the catalog, at most a hundred changes. */
export interface CatalogNews {
  readonly at: Date;
  /** The state of the catalog they came with. */
  readonly snapshotId: string;
  readonly changes: readonly CatalogChange[];
}

/** An event as a subscriber receives it: the same object for all who missed nothing. */
export interface Delivery<Event> {
  readonly event: Event;
  /** Names the event, unique across topics and processes; follow on behind it with `after`. */
  readonly id: string;
  /** How many events this subscriber missed, since its last delivery, because it read too slowly. */
  readonly missed: number;
}

/**
 * Live facts, fanned out in this process. Each subscriber has its own bounded queue: when it is full the
 * oldest event is dropped and counted, so a stalled reader costs a fixed amount and hurts nobody else.
 */
export interface Bus {
  publish<Topic extends keyof Topics>(topic: Topic, event: Topics[Topic]): void;
  /** Events of which this holds are told to nobody any more: neither to who has yet to read them, nor to who comes back. */
  withdraw<Topic extends keyof Topics>(topic: Topic, unwanted: (event: Topics[Topic]) => boolean): void;
  /**
   * Ends when the consumer returns, the signal fires, or the process drains. With `after`, the id of an event, first
   * delivers what came behind it. Throws Conflict when that is no longer kept: a topic keeps its latest few hundred
   * events, in this process.
   */
  subscribe<Topic extends keyof Topics>(
    topic: Topic,
    options: {
      readonly wanted?: (event: Topics[Topic]) => boolean;
      readonly after?: string | null;
      readonly signal?: AbortSignal;
    },
  ): PromptStream<Delivery<Topics[Topic]>>;
  /** How many subscribers are listening now. */
  subscriberCount(): number;
}
