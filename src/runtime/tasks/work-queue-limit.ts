import { Unavailable } from '../../domain/errors.ts';

/** How much may wait or be done at once. */
export interface Room {
  readonly waiting: number;
  readonly bytes: number;
}

/** Bounds what waits for a processor, by number and by bytes. */
export interface WaitingRoom {
  /**
   * Comes in with so many bytes, and gives what leaves again. Throws Unavailable when it is full; what is larger than all of
   * it comes in when nobody else is there.
   */
  enter(bytes: number): () => void;
}

export function createWaitingRoom(room: Room): WaitingRoom {
  let held = { jobs: 0, bytes: 0 };
  return {
    enter(bytes) {
      const full = held.jobs >= room.waiting || held.bytes + bytes > room.bytes;
      if (held.jobs > 0 && full) throw new Unavailable('Too much is waiting to be read. Try again shortly.');
      held = { jobs: held.jobs + 1, bytes: held.bytes + bytes };
      return () => {
        held = { jobs: held.jobs - 1, bytes: held.bytes - bytes };
      };
    },
  };
}
