// Runs in a worker thread, because parsing a price map would block the event loop for too long.
import { createHash } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { mapFault, modelsOfMap, type PricedModel } from '../../domain/catalog/price-map.ts';

/** Input of the thread. */
export interface ParseTask {
  readonly bytes: Uint8Array;
  /** Number of models in the catalog now. A map with far fewer models is rejected (`mapFault`). */
  readonly currentCount: number;
  /** Whether to return the compressed map too. */
  readonly wantsPacked: boolean;
}

/**
 * Output of the thread: the models as JSON lists of `[id, row]`. Each list is short, so that parsing it blocks the main
 * thread only briefly.
 */
export type ParseOutcome = ParsedLists | { readonly fault: string };

interface ParsedLists {
  /** SHA-256 of the models as compact JSON, in hex. */
  readonly sha256: string;
  readonly lists: readonly string[];
  /** The models as compact JSON, gzipped; null when not requested. */
  readonly packed: Uint8Array | null;
}

/** Maximum number of models in one list, which is parsed in well under a millisecond. */
const LIST_LENGTH = 100;

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function read({ bytes, currentCount, wantsPacked }: ParseTask): ParseOutcome {
  const map = parseJson(bytes);
  if (map === undefined) return { fault: 'the price map is not valid JSON; it may be truncated' };
  const models = modelsOfMap(map);
  const fault = mapFault(models, currentCount);
  if (models === null || fault !== null) return { fault: fault ?? 'the price map is not a JSON object' };
  const json = JSON.stringify(Object.fromEntries(models));
  const sha256 = createHash('sha256').update(json).digest('hex');
  const lists: string[] = [];
  for (let at = 0; at < models.length; at += LIST_LENGTH)
    lists.push(JSON.stringify(models.slice(at, at + LIST_LENGTH) satisfies PricedModel[]));
  return { sha256, lists, packed: wantsPacked ? new Uint8Array(gzipSync(json)) : null };
}

// On Linux a priority belongs to a thread. With a low one, requests are handled first when there is only one core.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window's
parentPort?.postMessage(read(workerData as ParseTask));
