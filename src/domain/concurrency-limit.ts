import { Unavailable } from './errors.ts';

/** Room for so many of something at one time. */
export interface Slots {
  /** Takes one and gives what frees it again. Throws Unavailable at once when none is free: nobody waits here. */
  take(): () => void;
}

/** `what` says in the refusal what there are too many of. */
export function createSlots(count: number, what: string): Slots {
  let free = count;
  return {
    take() {
      if (free === 0) throw new Unavailable(`Too many ${what} at once. Try again shortly.`);
      free -= 1;
      let taken = true;
      return () => {
        if (taken) free += 1;
        taken = false;
      };
    },
  };
}
