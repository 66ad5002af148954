import type { Clock } from './clock.ts';
import { LimitExceeded } from './errors.ts';

/** Holds everyone who asks to so many times in a while; counted in this process only. */
export interface Pace {
  /** Counts one. Throws LimitExceeded, telling when the while is over. */
  count(who: string): void;
}

/** Most who are counted at once; the one counted longest goes first. */
const MOST_COUNTED = 10_000;

/** A pace of at most `most` in `windowMs`, from everyone's own first on. `what` names it in the refusal. */
export function createPace(options: {
  readonly most: number;
  readonly windowMs: number;
  readonly what: string;
  readonly clock: Clock;
}): Pace {
  const { most, windowMs, what, clock } = options;
  const counted = new Map<string, { readonly sinceMs: number; times: number }>();
  return {
    count(who) {
      const nowMs = clock.monotonicMs();
      const known = counted.get(who);
      if (known === undefined || nowMs - known.sinceMs >= windowMs) {
        counted.delete(who);
        counted.set(who, { sinceMs: nowMs, times: 1 });
        const [oldest] = counted.keys();
        if (counted.size > MOST_COUNTED && oldest !== undefined) counted.delete(oldest);
        return;
      }
      if (known.times >= most) {
        const seconds = Math.ceil((known.sinceMs + windowMs - nowMs) / 1000);
        throw new LimitExceeded(`Too many ${what} from your address. Try again later.`, 'requests', seconds);
      }
      known.times += 1;
    },
  };
}
