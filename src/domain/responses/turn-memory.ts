import type { ResponseItem } from './stored-response.ts';

/** A response that is not stored: the part that a follow-up on the same connection needs. */
export interface UnstoredTurn {
  /** Id as sent to the caller. */
  readonly id: string;
  /** The stored response before the items; null where the items are the whole conversation. */
  readonly previousStoredId: string | null;
  /** Input and output items, as model input. */
  readonly items: readonly ResponseItem[];
}

/** Memory of one connection: of each lane (named sequence of requests), the latest response that is not stored. */
export interface TurnMemory {
  /** The response of an id; null when it is not in memory. The result is a copy. */
  find(id: string): UnstoredTurn | null;
  /** Replaces the response of the lane. A response above the limits is not kept. */
  put(lane: string, turn: UnstoredTurn): void;
  /** Removes the response of the lane. */
  evict(lane: string): void;
  /**
   * Removes the lane's response with this id, after a failed follow-up to it, as OpenAI documents. Other lanes keep
   * theirs.
   */
  failed(lane: string, previousId: string): void;
  /** Removes everything of this connection. */
  close(): void;
}

/** Capacities of one connection and of all connections, in bytes. */
const LIMITS = { connection: 32 * 1024 * 1024, process: 128 * 1024 * 1024 } as const;

interface Entry extends Pick<UnstoredTurn, 'id' | 'previousStoredId'> {
  /** The items as JSON text, whose size is known and smaller than that of parsed items. */
  readonly text: string;
  readonly size: number;
  readonly lane: string;
  /** The latest response of each lane of the same connection. */
  readonly lanes: Map<string, Entry>;
}

/** The memories of all connections of a process. The oldest entries are evicted first. */
export function createTurnMemories(limits: Readonly<Record<keyof typeof LIMITS, number>> = LIMITS): {
  open(): TurnMemory;
} {
  const allEntries = new Set<Entry>();
  let bytes = 0;

  function drop(entry: Entry | undefined): void {
    if (entry === undefined || !allEntries.delete(entry)) return;
    bytes -= entry.size;
    entry.lanes.delete(entry.lane);
  }

  /** Evicts the oldest of these entries until they use at most `most` bytes. */
  function makeRoom(entries: Iterable<Entry>, usedBytes: number, most: number): void {
    let keptBytes = usedBytes;
    for (const entry of entries) {
      if (keptBytes <= most) return;
      keptBytes -= entry.size;
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
          const { previousStoredId, text } = entry;
          return { id, previousStoredId, items: JSON.parse(text) as readonly ResponseItem[] };
        },
        put(lane, { id, previousStoredId, items }) {
          drop(lanes.get(lane));
          const text = JSON.stringify(items);
          // Strings with other than Latin-1 characters use two bytes per UTF-16 unit.
          const size = 2 * (text.length + id.length + (previousStoredId?.length ?? 0));
          if (size > Math.min(limits.connection, limits.process)) return;
          const connectionBytes = [...lanes.values()].reduce((sum, entry) => sum + entry.size, 0);
          makeRoom(lanes.values(), connectionBytes, limits.connection - size);
          makeRoom(allEntries, bytes, limits.process - size);
          const entry = { id, previousStoredId, text, size, lane, lanes };
          lanes.set(lane, entry);
          allEntries.add(entry);
          bytes += size;
        },
        evict: (lane) => drop(lanes.get(lane)),
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
