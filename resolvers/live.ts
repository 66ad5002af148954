import type { Caller } from '../src/domain/caller.ts';
import type { Access } from './access.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/**
 * A feed for as long as its reader may follow it: before each event it is asked anew who they are by now, since a key
 * may be blocked, expire or change hands meanwhile. Throws, and leaves the feed, when they may not; `show` gives what
 * they are shown of an event, or null for one that is not for them. Not a generator: one would hold `return()` back
 * behind a `next()` that may never come.
 */
export function whileAllowed<Event, Shown>(
  feed: AsyncIterableIterator<Event>,
  {
    scope,
    access,
    show,
  }: {
    readonly scope: Scope;
    readonly access: Access;
    readonly show: (event: Event, caller: Caller) => Shown | null;
  },
): AsyncIterableIterator<Shown> {
  const asked = callerOf(scope);

  async function shownOf(event: Event): Promise<Shown | null> {
    try {
      const caller = await scope.platform.keyRing.current(asked);
      access.check(caller);
      return show(event, caller);
    } catch (error) {
      await feed.return?.();
      throw error;
    }
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      for (;;) {
        const step = await feed.next();
        if (step.done === true) return { done: true, value: undefined };
        const shown = await shownOf(step.value);
        if (shown !== null) return { done: false, value: shown };
      }
    },
    async return() {
      await feed.return?.();
      return { done: true, value: undefined };
    },
  };
}
