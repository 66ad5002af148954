import type { Clock } from '../clock.ts';
import { withChangeListener } from '../row-store.ts';
import { ALL_PLUGINS, type Plugin, type PluginStore } from './plugin.ts';

/** Time after which a change by another process is listed, in ms. */
const MAX_AGE_MS = 5_000;

/** Plugins that clients may install. */
export interface Marketplace {
  /**
   * The enabled plugins, the oldest first, as a frozen array: the same object until the store is read again. A change
   * by this process is listed at once.
   */
  plugins(): Promise<readonly Plugin[]>;
}

/**
 * A marketplace over a store. Requests without a key read it, so concurrent and later requests share one read of the
 * store. Changes must go through the returned `store`.
 */
export function createMarketplace(
  store: PluginStore,
  clock: Pick<Clock, 'monotonicMs'>,
): { readonly store: PluginStore; readonly marketplace: Marketplace } {
  let latest: { readonly rows: Promise<readonly Plugin[]>; readonly startMs: number } | null = null;

  const readRows = async (): Promise<readonly Plugin[]> =>
    Object.freeze([...(await store.all({ ...ALL_PLUGINS, enabled: true }))]);

  function readAgain(): Promise<readonly Plugin[]> {
    const read = { rows: readRows(), startMs: clock.monotonicMs() };
    latest = read;
    // A failed read is not kept. The requests that share it get its error.
    read.rows.catch(() => {
      if (latest === read) latest = null;
    });
    return read.rows;
  }

  return {
    store: withChangeListener(store, () => {
      latest = null;
    }),
    marketplace: {
      plugins: () =>
        latest === null || clock.monotonicMs() - latest.startMs >= MAX_AGE_MS ? readAgain() : latest.rows,
    },
  };
}
