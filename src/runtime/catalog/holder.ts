import type { CatalogSnapshot, FollowedCatalog } from '../../domain/catalog/catalog.ts';
import type { QuarantinedPrice } from '../../domain/catalog/quarantine.ts';
import type { ReleaseStore } from '../../domain/catalog/releases.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Download } from './download.ts';
import { createRecentStates } from './recent-states.ts';
import { LastGoodInvalid, loadLastGood, saveLastGood } from './last-good.ts';
import { MapRejected, type ParsedMap, parsePriceMap } from './parse.ts';
import { createKnownReleases } from './releases.ts';
import { embeddedTakenAt, loadEmbeddedMap } from './snapshot.ts';
import { type CatalogState, type IsReleased, withReleases, stateBuilder } from './state.ts';
import type { Log } from '../telemetry/log.ts';

export interface CatalogHolderOptions {
  /** Address of the source. A stored map of another source is not used. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  /** File of the last good map, for restarts; none when absent. */
  readonly lastGoodFile?: string | undefined;
  /** Store of the releases of quarantined prices by administrators; releases are not stored when absent. */
  readonly releases?: ReleaseStore | undefined;
  /** Called after every swap to different data, except by `restore`. Its errors are only logged. */
  readonly swapped?: ((from: CatalogSnapshot, to: CatalogSnapshot) => void) | undefined;
}

/** Holds the current catalog. Changes run one at a time, except `restore` at the start. */
export interface CatalogHolder extends Pick<FollowedCatalog, 'current' | 'findSnapshot' | 'quarantined' | 'release'> {
  /**
   * Serves a downloaded map, with unit mistakes quarantined. Returns null, or the fault of a map that is not served, as
   * a text that may be shown.
   */
  take(downloaded: Download): Promise<string | null>;
  /** Reads the stored releases, which another process may have changed, and serves the released prices. */
  refreshReleases(): Promise<void>;
  /**
   * Serves the last good map of an earlier process. Returns its validator for conditional requests; null without a
   * usable map.
   */
  restore(): Promise<string | null>;
}

/** Runs asynchronous work in order, one piece at a time. A failure does not affect later work. */
function createWorkQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
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

function quarantinedPrices({ quarantined }: CatalogState): readonly QuarantinedPrice[] {
  return [...quarantined.values()].flatMap(({ prices }) => prices);
}

/** Serves the built-in catalog until another is taken. */
export function createCatalogHolder(options: CatalogHolderOptions): CatalogHolder {
  const { url, clock, log, lastGoodFile } = options;
  const releases = createKnownReleases(options.releases);
  const { isReleased } = releases;
  const oneAtATime = createWorkQueue();
  const recentStates = createRecentStates(clock);
  let state: CatalogState | null = null;
  /** Hash and validator of the last saved map. The file is written only when one of them changes. */
  let saved = '';

  const currentState = (): CatalogState => (state ??= embeddedState(isReleased));
  const current = (): CatalogSnapshot => currentState().snapshot;

  function adopt(next: CatalogState): void {
    const from = current();
    state = next;
    const to = next.snapshot;
    if (to === from) return;
    const { source, entries, id } = to;
    log.info(
      { source, entries: entries.length, snapshot: id, quarantined: quarantinedPrices(next).length },
      'catalog refreshed',
    );
    if (id === from.id) return;
    recentStates.add(from, to);
    try {
      options.swapped?.(from, to);
    } catch (error) {
      log.error({ err: error, snapshot: id }, 'a catalog subscriber failed');
    }
  }

  /** Value of a field in the price map, also when it is quarantined. */
  function valueNow(entryId: string, field: string): unknown {
    const row = currentState().quarantined.get(entryId)?.raw ?? current().find(entryId)?.row;
    return row?.[field];
  }

  async function save({ packed, sha256 }: ParsedMap, validator: string | null): Promise<void> {
    const facts = `${sha256} ${validator}`;
    if (lastGoodFile === undefined || packed === null || facts === saved) return;
    try {
      await saveLastGood(lastGoodFile, { state: currentState(), packed, url, validator });
      saved = facts;
    } catch (error) {
      log.warn({ err: error }, 'the price map could not be stored for the next start');
    }
  }

  async function take({ bytes, source, validator }: Download): Promise<string | null> {
    try {
      const currentCount = current().entries.length;
      const map = await parsePriceMap(bytes, { currentCount, wantsPacked: lastGoodFile !== undefined });
      const takenAt = clock.now();
      const builder = stateBuilder(currentState(), isReleased, takenAt);
      await map.eachModel(builder.add);
      adopt(builder.build({ sha256: map.sha256, takenAt, source }));
      await save(map, validator);
    } catch (error) {
      if (error instanceof MapRejected) return error.message;
      throw error;
    }
    await releases.removeObsolete(valueNow).catch((error: unknown) => {
      log.warn({ err: error }, 'obsolete releases of quarantined prices could not be deleted');
    });
    return null;
  }

  async function release(quarantineId: string, releasedBy: string): Promise<QuarantinedPrice | null> {
    const price = quarantinedPrices(currentState()).find(({ id }) => id === quarantineId);
    if (price === undefined) return null;
    const { entryId, field, value } = price;
    await releases.add({ entryId, field, value, releasedAt: clock.now(), releasedBy });
    adopt(withReleases(currentState(), isReleased));
    return price;
  }

  return {
    current,
    findSnapshot: (id) => (current().id === id ? current() : recentStates.find(id)),
    quarantined: () => quarantinedPrices(currentState()),
    take: (downloaded) => oneAtATime(() => take(downloaded)),
    release: (quarantineId, releasedBy) => oneAtATime(() => release(quarantineId, releasedBy)),
    refreshReleases: () =>
      oneAtATime(async () => {
        await releases.refresh();
        if (state !== null) adopt(withReleases(state, isReleased));
      }),
    async restore() {
      if (lastGoodFile === undefined) return null;
      try {
        const lastGood = await loadLastGood(lastGoodFile, { url, notBefore: embeddedTakenAt(), isReleased });
        if (lastGood === null) return null;
        state = lastGood.state;
        return lastGood.validator;
      } catch (error) {
        const reason = error instanceof LastGoodInvalid ? error.message : 'it is damaged';
        log.warn({ reason, file: lastGoodFile }, 'the stored price map is not used');
        return null;
      }
    },
  };
}
