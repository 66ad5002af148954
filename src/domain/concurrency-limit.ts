import { Unavailable } from './errors.ts';

/** Limits the number of concurrent uses of a resource. */
export interface Slots {
  /** Acquires a slot and returns the function that releases it. Throws Unavailable immediately when none is free. */
  take(): () => void;
}

/** `what` names the resource in the error message. */
export function createSlots(count: number, what: string): Slots {
  let free = count;
  return {
    take() {
      if (free === 0) throw new Unavailable(`Too many ${what} at once. Try again shortly.`);
      free -= 1;
      let isHeld = true;
      return () => {
        if (isHeld) free += 1;
        isHeld = false;
      };
    },
  };
}
