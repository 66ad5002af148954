import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { PricedModel } from '../../domain/catalog/price-map.ts';
import type { ParseOutcome, ParseTask } from './parse-worker.ts';

/** An invalid price map. The message may be shown. */
export class MapRejected extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'MapRejected';
  }
}

/** A valid price map. */
export interface ParsedMap {
  /** SHA-256 in hex of the models as compact JSON, in the order of the map. */
  readonly sha256: string;
  /** The models as compact JSON, gzipped; null when not requested. */
  readonly packed: Uint8Array | null;
  /** Passes every model to `take`, and yields to the event loop after each list that the thread has returned. */
  eachModel(take: (model: PricedModel) => void): Promise<void>;
}

/** Parses a price map in a worker thread. Throws MapRejected for an invalid map, and an Error when the thread fails. */
export async function parsePriceMap(
  bytes: Uint8Array,
  { currentCount, wantsPacked }: Omit<ParseTask, 'bytes'>,
): Promise<ParsedMap> {
  const outcome = await parseInThread({ bytes, currentCount, wantsPacked });
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

/** Memory limits of the thread in MB: enough for a map of the usual size. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 192 };

function parseInThread(task: ParseTask): Promise<ParseOutcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
      workerData: task,
      resourceLimits: MEMORY,
    });
    // The thread must not delay a shutdown.
    worker.unref();
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The worker thread of the price map exited without a result.')));
  });
}
