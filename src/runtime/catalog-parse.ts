import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { CatalogEntry } from '../domain/catalog/catalog.ts';
import type { PricedModel } from '../domain/catalog/price-map.ts';
import type { ParseOutcome, ParseTask } from './catalog-parse-worker.ts';
import { entryOf } from './catalog-snapshot.ts';

/** A price map that was not taken: why, in words fit to show. */
export class MapRejected extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'MapRejected';
  }
}

/**
 * Reads a price map without holding up the event loop: a thread parses and checks it, and what it found is
 * taken over a little at a time. Throws MapRejected.
 */
export async function parsePriceMap(
  bytes: Uint8Array,
  currentCount: number,
): Promise<{ readonly sha256: string; readonly entries: readonly CatalogEntry[] }> {
  const outcome = await inThread({ bytes, currentCount });
  if ('fault' in outcome) throw new MapRejected(outcome.fault);
  const entries: CatalogEntry[] = [];
  for (const list of outcome.lists) {
    for (const model of JSON.parse(list) as PricedModel[]) entries.push(entryOf(model));
    await nextTurn();
  }
  return { sha256: outcome.sha256, entries };
}

/** Megabytes the thread may use: plenty for a map of the usual size, and the end of an absurd one. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 192 };

function inThread(task: ParseTask): Promise<ParseOutcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./catalog-parse-worker.ts', import.meta.url), {
      workerData: task,
      resourceLimits: MEMORY,
    });
    // A process that is told to end must not wait for a catalog.
    worker.unref();
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that reads the price map ended without an answer.')));
  });
}
