import type { Item } from './kept-response.ts';

/** A response that nobody keeps, as far as its caller can go on from it. */
export interface RememberedTurn {
  /** The id its caller knows. */
  readonly id: string;
  /** The kept response that comes before the items; null where they are the whole conversation. */
  readonly goesOnFrom: string | null;
  /** What was asked and said, for a model to read. */
  readonly items: readonly Item[];
}

/** What one connection remembers: the latest unkept response of each of its lanes. */
export interface TurnMemory {
  /** Null for one that is no longer remembered. What is found stays whole, whatever is forgotten then. */
  find(id: string): RememberedTurn | null;
  /** In place of what the lane remembered. One that is too large is not remembered. */
  remember(lane: string, turn: RememberedTurn): void;
  forget(lane: string): void;
  /** Forgets a response of the lane's own that could not be gone on from; other lanes keep theirs. */
  failed(lane: string, previousId: string): void;
  /** The connection is gone, and what it remembered. */
  close(): void;
}

/** Most bytes that are remembered, in one connection and in all of them. */
const LIMITS = { connection: 32 * 1024 * 1024, process: 128 * 1024 * 1024 } as const;

interface Entry extends Pick<RememberedTurn, 'id' | 'goesOnFrom'> {
  /** The items as JSON: how much they hold is known, and a fraction of what they hold parsed. */
  readonly text: string;
  readonly size: number;
  readonly lane: string;
  readonly lanes: Map<string, Entry>;
}

/** The memories of all connections of a process. Where room is wanted, the oldest are forgotten first. */
export function createTurnMemories(limits: Readonly<Record<keyof typeof LIMITS, number>> = LIMITS): {
  open(): TurnMemory;
} {
  const all = new Set<Entry>();
  let bytes = 0;

  function drop(entry: Entry | undefined): void {
    if (entry === undefined || !all.delete(entry)) return;
    bytes -= entry.size;
    entry.lanes.delete(entry.lane);
  }

  function makeRoom(entries: Iterable<Entry>, held: number, most: number): void {
    let rest = held;
    for (const entry of entries) {
      if (rest <= most) return;
      rest -= entry.size;
      drop(entry);
    }
  }

  return {
    open() {
      const lanes = new Map<string, Entry>();
      return {
        find(id) {
          const entry = [...lanes.values()].find((one) => one.id === id);
          if (entry === undefined) return null;
          const { goesOnFrom, text } = entry;
          return { id, goesOnFrom, items: JSON.parse(text) as readonly Item[] };
        },
        remember(lane, { id, goesOnFrom, items }) {
          drop(lanes.get(lane));
          const text = JSON.stringify(items);
          // Two bytes for each unit of a text that is not Latin.
          const size = 2 * (text.length + id.length + (goesOnFrom?.length ?? 0));
          if (size > Math.min(limits.connection, limits.process)) return;
          const own = [...lanes.values()].reduce((sum, entry) => sum + entry.size, 0);
          makeRoom(lanes.values(), own, limits.connection - size);
          makeRoom(all, bytes, limits.process - size);
          const entry = { id, goesOnFrom, text, size, lane, lanes };
          lanes.set(lane, entry);
          all.add(entry);
          bytes += size;
        },
        forget: (lane) => drop(lanes.get(lane)),
        failed(lane, previousId) {
          const entry = lanes.get(lane);
          if (entry?.id === previousId) drop(entry);
        },
        close() {
          for (const entry of lanes.values()) drop(entry);
        },
      };
    },
  };
}
