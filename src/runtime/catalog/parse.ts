import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { PricedModel } from '../../domain/catalog/price-map.ts';
import type { ParseOutcome, ParseTask } from './parse-worker.ts';

/** A price map that was not taken: why, in words fit to show. */
export class MapRejected extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'MapRejected';
  }
}

/** A price map that was read and found sound. */
export interface ParsedMap {
  /** Of its models as compact JSON in their order, in hex. */
  readonly sha256: string;
  /** That JSON, gzipped; null when it was not wanted. */
  readonly packed: Uint8Array | null;
  /** Gives every model to `take`, a few at a time, so that requests in flight are served in between. */
  eachModel(take: (model: PricedModel) => void): Promise<void>;
}

/** Reads a price map in a thread of its own, without holding up the event loop. Throws MapRejected. */
export async function parsePriceMap(
  bytes: Uint8Array,
  { currentCount, packed }: Omit<ParseTask, 'bytes'>,
): Promise<ParsedMap> {
  const outcome = await inThread({ bytes, currentCount, packed });
  if ('fault' in outcome) throw new MapRejected(outcome.fault);
  return {
    sha256: outcome.sha256,
    packed: outcome.packed,
    async eachModel(take) {
      for (const list of outcome.lists) {
        for (const model of JSON.parse(list) as PricedModel[]) take(model);
        await nextTurn();
      }
    },
  };
}

/** Megabytes the thread may use: plenty for a map of the usual size, and the end of an absurd one. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 192 };

function inThread(task: ParseTask): Promise<ParseOutcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
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
