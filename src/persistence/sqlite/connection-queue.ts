import { Unavailable } from '../../domain/errors.ts';

/** Exclusive use of one connection, first come, first served. */
export interface ConnectionQueue {
  /**
   * Resolves to a function that ends the turn; calling it again does nothing. Throws Unavailable after the deadline.
   */
  next(): Promise<() => void>;
}

interface Waiting {
  readonly start: (end: () => void) => void;
  readonly deadline: NodeJS.Timeout;
}

/** A FIFO mutex. `waitMs` is the maximum wait of a caller for its turn, in ms. */
export function createConnectionQueue(waitMs: number): ConnectionQueue {
  const waiting = new Set<Waiting>();
  let isTaken = false;

  function begin(): () => void {
    isTaken = true;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      isTaken = false;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      clearTimeout(next.deadline);
      next.start(begin());
    };
  }

  return {
    next() {
      if (!isTaken) return Promise.resolve(begin());
      return new Promise((resolve, reject) => {
        const entry: Waiting = {
          start: resolve,
          deadline: setTimeout(() => {
            waiting.delete(entry);
            reject(new Unavailable('The database is busy. Try again shortly.'));
          }, waitMs),
        };
        waiting.add(entry);
      });
    },
  };
}
