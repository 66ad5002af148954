import type { CatalogSnapshot, FollowedCatalog } from '../../domain/catalog/catalog.ts';
import type { HeldPrice } from '../../domain/catalog/quarantine.ts';
import type { ReleaseStore } from '../../domain/catalog/releases.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Download } from './download.ts';
import { createKeptStates } from './recent-states.ts';
import { LastGoodUnfit, loadLastGood, saveLastGood } from './last-good.ts';
import { MapRejected, type ParsedMap, parsePriceMap } from './parse.ts';
import { createKnownReleases } from './releases.ts';
import { embeddedTakenAt, loadEmbeddedMap } from './snapshot.ts';
import { type CatalogState, type IsReleased, judgedAnew, stateBuilder } from './state.ts';
import type { Log } from '../telemetry/log.ts';

export interface CatalogHolderOptions {
  /** Address of the source: what was kept of another one is not used. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  /** File in which the last good map survives a restart; none where it is absent. */
  readonly lastGoodFile?: string | undefined;
  /** Where releases of held prices are kept; by default nowhere. */
  readonly releases?: ReleaseStore | undefined;
  /** Told after every swap to data that differs. What it throws is logged and changes nothing. */
  readonly swapped?: ((from: CatalogSnapshot, to: CatalogSnapshot) => void) | undefined;
}

/** Holds what is served. Its changes are made one after another. */
export interface CatalogHolder extends Pick<FollowedCatalog, 'current' | 'at' | 'held' | 'release'> {
  /** Swaps in what was read, with its unit mistakes kept out. Gives why not, as a text fit to show; null when it did. */
  take(read: Download): Promise<string | null>;
  /** Serves what admins have released, here or through another process. */
  learnReleases(): Promise<void>;
  /** Serves the last good map of an earlier process. Gives what to ask the source by whether it has changed since. */
  restore(): Promise<string | null>;
}

/** Runs what it is given one after another, whatever becomes of each. */
function inTurn(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  };
}

function embeddedState(isReleased: IsReleased): CatalogState {
  const { models, sha256, takenAt } = loadEmbeddedMap();
  const builder = stateBuilder(null, isReleased, takenAt);
  for (const model of models) builder.add(model);
  return builder.build({ sha256, takenAt, source: 'embedded' });
}

function heldIn({ held }: CatalogState): readonly HeldPrice[] {
  return [...held.values()].flatMap(({ holds }) => holds);
}

/** Holds the built-in catalog until it is given another. */
export function createCatalogHolder(options: CatalogHolderOptions): CatalogHolder {
  const { url, clock, log, lastGoodFile } = options;
  const releases = createKnownReleases(options.releases);
  const { isReleased } = releases;
  const alone = inTurn();
  const kept = createKeptStates(clock);
  let state: CatalogState | null = null;
  /** What is in the file: it is written again only when that has changed. */
  let saved = '';

  const now = (): CatalogState => (state ??= embeddedState(isReleased));
  const current = (): CatalogSnapshot => now().snapshot;

  function adopt(next: CatalogState): void {
    const from = current();
    state = next;
    const to = next.snapshot;
    if (to === from) return;
    const { source, entries, id } = to;
    log.info({ source, entries: entries.length, snapshot: id, held: heldIn(next).length }, 'catalog refreshed');
    if (id === from.id) return;
    kept.keep(from, to);
    try {
      options.swapped?.(from, to);
    } catch (error) {
      log.error({ err: error, snapshot: id }, 'a follower of the catalog failed');
    }
  }

  /** A field of the price map as it is there, held or not. */
  const valueNow = (entryId: string, field: string): unknown =>
    (now().held.get(entryId)?.raw ?? current().find(entryId)?.row)?.[field];

  async function save({ packed, sha256 }: ParsedMap, mark: string | null): Promise<void> {
    const facts = `${sha256} ${mark}`;
    if (lastGoodFile === undefined || packed === null || facts === saved) return;
    try {
      await saveLastGood(lastGoodFile, { state: now(), packed, url, mark });
      saved = facts;
    } catch (error) {
      log.warn({ err: error }, 'the last good price map could not be kept for a restart');
    }
  }

  async function take({ bytes, source, mark }: Download): Promise<string | null> {
    try {
      const currentCount = current().entries.length;
      const map = await parsePriceMap(bytes, { currentCount, packed: lastGoodFile !== undefined });
      const takenAt = clock.now();
      const builder = stateBuilder(now(), isReleased, takenAt);
      await map.eachModel(builder.add);
      adopt(builder.build({ sha256: map.sha256, takenAt, source }));
      await save(map, mark);
    } catch (error) {
      if (error instanceof MapRejected) return error.message;
      throw error;
    }
    await releases.forgetOvertaken(valueNow).catch((error: unknown) => {
      log.warn({ err: error }, 'releases that the price map has overtaken could not be forgotten');
    });
    return null;
  }

  async function release(holdId: string, releasedBy: string): Promise<HeldPrice | null> {
    const hold = heldIn(now()).find(({ id }) => id === holdId);
    if (hold === undefined) return null;
    const { entryId, field, value } = hold;
    await releases.add({ entryId, field, value, releasedAt: clock.now(), releasedBy });
    adopt(judgedAnew(now(), isReleased));
    return hold;
  }

  return {
    current,
    at: (id) => (current().id === id ? current() : kept.find(id)),
    held: () => heldIn(now()),
    take: (read) => alone(() => take(read)),
    release: (holdId, releasedBy) => alone(() => release(holdId, releasedBy)),
    learnReleases: () =>
      alone(async () => {
        await releases.learn();
        if (state !== null) adopt(judgedAnew(state, isReleased));
      }),
    async restore() {
      if (lastGoodFile === undefined) return null;
      try {
        const before = await loadLastGood(lastGoodFile, { url, notBefore: embeddedTakenAt(), isReleased });
        if (before === null) return null;
        state = before.state;
        return before.mark;
      } catch (error) {
        const reason = error instanceof LastGoodUnfit ? error.message : 'it is damaged';
        log.warn({ reason, file: lastGoodFile }, 'the price map kept from before is not used');
        return null;
      }
    },
  };
}
