import { type Caller, haveSameRights } from '../../src/domain/caller.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { mapStream, type PollableStream, revocable } from '../../src/domain/pollable-stream.ts';
import type { Access } from './access.ts';
import { callerOf } from './operation.ts';
import type { TracePlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/**
 * A live feed that ends when its reader loses access. The caller is read again before each event and every few seconds,
 * because a key may be blocked, expire or change. Throws and leaves the feed when the credential is no longer valid,
 * the access rule refuses, or the rights differ from those at the start. `show` returns what the reader sees of an
 * event; null skips it.
 */
export function whileAllowed<Event, Shown extends object>(
  feed: PollableStream<Event>,
  {
    scope,
    access,
    show,
  }: {
    readonly scope: Scope<Pick<TracePlatform, 'keyRing' | 'callerWatch'>>;
    readonly access: Access;
    readonly show: (event: Event, caller: Caller) => Shown | null;
  },
): PollableStream<Shown> {
  const reader = callerOf(scope);
  const { keyRing, callerWatch } = scope.platform;

  function check(caller: Caller): void {
    access.check(caller);
    if (!haveSameRights(reader, caller))
      throw new Conflict('The rights of this key have changed. Read the list again, then subscribe again.');
  }

  /** Synchronous when the caller is cached, because an event may have a thousand subscribers. */
  function shownOf(event: Event): Shown | null | Promise<Shown | null> {
    const caller = keyRing.current(reader);
    return caller instanceof Promise ? caller.then((known) => shownTo(known, event)) : shownTo(caller, event);
  }

  function shownTo(caller: Caller, event: Event): Shown | null {
    check(caller);
    return show(event, caller);
  }

  return revocable(mapStream(feed, shownOf), (lost) => callerWatch.watch(reader, { check, lost }));
}
