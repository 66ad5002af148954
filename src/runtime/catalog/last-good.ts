import { hash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { CatalogEntry, CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { mapFault, modelsOfMap, type PricedModel } from '../../domain/catalog/price-map.ts';
import { withServedValues } from '../../domain/catalog/quarantine.ts';
import { createSnapshot, entryOf } from './snapshot.ts';
import { type CatalogState, type IsReleased, stateBuilder } from './state.ts';

/** Metadata of a stored price map. */
interface Head {
  readonly sha256: string;
  readonly takenAt: string;
  readonly source: 'file' | 'upstream';
  /** Hash of the source's address, which may contain a password. */
  readonly address: string;
  /** Validator for conditional requests. */
  readonly mark: string | null;
  /** Quarantined prices of the map, with the values served instead and the times of their quarantine. */
  readonly held: readonly HeadPrice[];
}

interface HeadPrice {
  readonly entryId: string;
  readonly field: string;
  readonly served?: unknown;
  readonly since: string;
}

/** A state that was served before a restart. */
export interface LastGood {
  readonly state: CatalogState;
  readonly validator: string | null;
}

const addressOf = (url: string): string => hash('sha256', url, 'hex');

// Format of the file: a checksum of the rest, a line end, one line of JSON (`Head`), and the gzipped models.

/** Characters of the checksum. */
const CHECKSUM_LENGTH = 64;

/** Stores a state's price map for a restart without a network. The file is replaced atomically. */
export async function saveLastGood(
  path: string,
  { state, packed, url, validator }: LastGood & { readonly packed: Uint8Array; readonly url: string },
): Promise<void> {
  const { sha256, snapshot, quarantined } = state;
  const head = {
    sha256,
    takenAt: snapshot.takenAt.toISOString(),
    source: snapshot.source,
    address: addressOf(url),
    mark: validator,
    held: [...quarantined.values()].flatMap(({ prices }) =>
      prices.map(({ entryId, field, served, since }) => ({ entryId, field, served, since: since.toISOString() })),
    ),
  };
  const rest = Buffer.concat([Buffer.from(`\n${JSON.stringify(head)}\n`), packed]);
  const temporaryPath = `${path}.part`;
  await writeFile(temporaryPath, Buffer.concat([Buffer.from(hash('sha256', rest, 'hex')), rest]), {
    mode: 0o600,
    flush: true,
  });
  await rename(temporaryPath, path);
}

/** The stored map is damaged or invalid. The message may be shown. */
export class LastGoodInvalid extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'LastGoodInvalid';
  }
}

/**
 * The state in a file; null when there is no file, when its map is of another source, or older than `notBefore`.
 * Throws LastGoodInvalid for a file that cannot be read, or that has a wrong checksum or no valid map.
 */
export async function loadLastGood(
  path: string,
  { url, notBefore, isReleased }: { readonly url: string; readonly notBefore: Date; readonly isReleased: IsReleased },
): Promise<LastGood | null> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new LastGoodInvalid(`it cannot be read: ${error.code ?? 'unknown error'}`);
  });
  if (bytes === null) return null;
  const rest = bytes.subarray(CHECKSUM_LENGTH);
  if (bytes.toString('latin1', 0, CHECKSUM_LENGTH) !== hash('sha256', rest, 'hex'))
    throw new LastGoodInvalid('its checksum does not match');
  const endOfHead = rest.indexOf('\n', 1);
  const head = JSON.parse(rest.toString('utf8', 1, endOfHead)) as Head;
  if (head.address !== addressOf(url) || new Date(head.takenAt) < notBefore) return null;
  const models = modelsOfMap(JSON.parse(gunzipSync(rest.subarray(endOfHead + 1)).toString('utf8')));
  const fault = mapFault(models, 0);
  if (models === null || fault !== null) throw new LastGoodInvalid(fault ?? 'it has no models');
  return { state: restore(models, head, isReleased), validator: head.mark };
}

/** Repeats the quarantine: compares the models with the values that were served when the file was written. */
function restore(models: readonly PricedModel[], head: Head, isReleased: IsReleased): CatalogState {
  const takenAt = new Date(head.takenAt);
  const byId = new Map(models);
  const byEntry = Map.groupBy(head.held, ({ entryId }) => entryId);
  const entries: CatalogEntry[] = [];
  for (const [id, heldPrices] of byEntry) {
    const raw = byId.get(id);
    if (raw === undefined) continue;
    // JSON omits `served` where no value was served.
    const prices = heldPrices.map((one) => ({ served: undefined, ...one }));
    entries.push(entryOf([id, withServedValues(raw, prices)]));
  }
  const served: CatalogSnapshot = createSnapshot({ id: '', takenAt, source: head.source, entries });
  const since = new Map(head.held.map((one) => [`${one.field} ${one.entryId}`, new Date(one.since)]));
  const builder = stateBuilder({ snapshot: served, sha256: '', quarantined: new Map() }, isReleased, takenAt);
  for (const model of models) builder.add(model);
  const state = builder.build({ takenAt, source: head.source, sha256: head.sha256 });
  return { ...state, quarantined: withTimes(state.quarantined, since) };
}

function withTimes(
  quarantined: CatalogState['quarantined'],
  since: ReadonlyMap<string, Date>,
): CatalogState['quarantined'] {
  return new Map(
    [...quarantined].map(([id, { raw, prices }]) => {
      const timed = prices.map((one) => ({ ...one, since: since.get(`${one.field} ${id}`) ?? one.since }));
      return [id, { raw, prices: timed }];
    }),
  );
}
