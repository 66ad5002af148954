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

  /** At once where the caller is known to memory, as almost always: an event may have a thousand followers. */
  function shownOf(event: Event): Shown | null | Promise<Shown | null> {
    const caller = scope.platform.keyRing.current(asked);
    return caller instanceof Promise ? caller.then((known) => shownTo(known, event)) : shownTo(caller, event);
  }

  function shownTo(caller: Caller, event: Event): Shown | null {
    access.check(caller);
    return show(event, caller);
  }

  const next = async (): Promise<IteratorResult<Shown>> => {
    for (;;) {
      const step = await feed.next();
      if (step.done === true) return { done: true, value: undefined };
      try {
        const shown = shownOf(step.value);
        const value = shown instanceof Promise ? await shown : shown;
        if (value !== null) return { done: false, value };
      } catch (error) {
        await feed.return?.();
        throw error;
      }
    }
  };

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next,
    async return() {
      await feed.return?.();
      return { done: true, value: undefined };
    },
  };
}
