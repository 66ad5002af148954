import { type Caller, haveSameRights } from '../../src/domain/caller.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { eachOf, type PromptStream, revocable } from '../../src/domain/pollable-stream.ts';
import type { Access } from './access.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/**
 * A feed for as long as its reader may follow it: before each event, and every few seconds without one, it is asked
 * anew who they are by now, since a key may be blocked, expire or change hands meanwhile. Throws, and leaves the feed,
 * when they may not, and when their rights are others than it began with: what they were told would not be what they
 * may see. `show` gives what they are shown of an event, or null for one that is not for them.
 */
export function whileAllowed<Event, Shown extends object>(
  feed: PromptStream<Event>,
  {
    scope,
    access,
    show,
  }: {
    readonly scope: Scope;
    readonly access: Access;
    readonly show: (event: Event, caller: Caller) => Shown | null;
  },
): PromptStream<Shown> {
  const asked = callerOf(scope);
  const { keyRing, callerWatch } = scope.platform;

  function check(caller: Caller): void {
    access.check(caller);
    if (!haveSameRights(asked, caller))
      throw new Conflict('The rights of this key have changed. Read the list again and follow from now on.');
  }

  /** At once where the caller is known to memory, as almost always: an event may have a thousand followers. */
  function shownOf(event: Event): Shown | null | Promise<Shown | null> {
    const caller = keyRing.current(asked);
    return caller instanceof Promise ? caller.then((known) => shownTo(known, event)) : shownTo(caller, event);
  }

  function shownTo(caller: Caller, event: Event): Shown | null {
    check(caller);
    return show(event, caller);
  }

  return revocable(eachOf(feed, shownOf), (lost) => callerWatch.watch(asked, { check, lost }));
}
