import { hash } from 'node:crypto';
import type { CatalogEntry, CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { PricedModel } from '../../domain/catalog/price-map.ts';
import {
  type QuarantinedPrice,
  type QuarantinedValue,
  quarantineRow,
  withServedValues,
} from '../../domain/catalog/quarantine.ts';
import { sameValue } from '../../domain/catalog/same-value.ts';
import { createSnapshot, entryOf, snapshotIdOf } from './snapshot.ts';

type Row = PricedModel[1];

/** An entry with quarantined fields: its row in the price map, and the fields. */
interface QuarantinedEntry {
  readonly raw: Row;
  readonly prices: readonly QuarantinedPrice[];
}

/** The served snapshot, and its quarantined prices. */
export interface CatalogState {
  readonly snapshot: CatalogSnapshot;
  /** SHA-256 in hex of its price map. */
  readonly sha256: string;
  /** By entry id, in the order of the entries. */
  readonly quarantined: ReadonlyMap<string, QuarantinedEntry>;
}

/** Whether an administrator released this value of this field. */
export type IsReleased = (entryId: string, field: string, value: unknown) => boolean;

/** Origin of a state's data. */
type Origin = Pick<CatalogSnapshot, 'takenAt' | 'source'> & { readonly sha256: string };

/** Builds the next state from the models of a price map. */
export interface StateBuilder {
  add(model: PricedModel): void;
  /** The state; its snapshot is the previous one when neither the served entries nor the source have changed. */
  build(origin: Origin): CatalogState;
}

/** Characters of the id of a quarantined value: 132 bits of its hash. */
const QUARANTINE_ID_LENGTH = 22;

/** Id of a quarantined value: a hash of its entry, field and value. */
const quarantineIdOf = ({ entryId, field, value }: QuarantinedValue): string =>
  hash('sha256', JSON.stringify([entryId, field, value]), 'base64url').slice(0, QUARANTINE_ID_LENGTH);

/** The id covers the map and its quarantined fields. */
function stateIdOf(sha256: string, quarantined: CatalogState['quarantined']): string {
  if (quarantined.size === 0) return snapshotIdOf(sha256);
  const differences = [...quarantined.values()].flatMap(({ prices }) =>
    prices.map(({ entryId, field, served }) => [entryId, field, served ?? null]),
  );
  return snapshotIdOf(hash('sha256', sha256 + JSON.stringify(differences), 'hex'));
}

/**
 * Checks every row against `before` and shares unchanged entries with it, so that a state needs memory only for its
 * differences.
 */
export function stateBuilder(before: CatalogState | null, isReleased: IsReleased, now: Date): StateBuilder {
  const entries: CatalogEntry[] = [];
  const quarantined = new Map<string, QuarantinedEntry>();
  /** Number of entries that are shared with `before`. */
  let shared = 0;

  function quarantine(id: string, raw: Row, prices: readonly QuarantinedValue[]): void {
    const known = new Map(before?.quarantined.get(id)?.prices.map((one) => [one.id, one]));
    const named = prices.map((one): QuarantinedPrice => {
      const quarantineId = quarantineIdOf(one);
      return { id: quarantineId, ...one, since: known.get(quarantineId)?.since ?? now };
    });
    quarantined.set(id, { raw, prices: named });
  }

  return {
    add([id, raw]) {
      const known = before?.snapshot.find(id) ?? null;
      if (known !== null && sameValue(raw, known.row)) {
        shared += 1;
        return void entries.push(known);
      }
      const { row, quarantined: prices } = quarantineRow(id, raw, known?.row ?? null, (field, value) =>
        isReleased(id, field, value),
      );
      if (prices.length > 0) quarantine(id, raw, prices);
      if (known === null || !sameValue(row, known.row)) return void entries.push(entryOf([id, row]));
      shared += 1;
      entries.push(known);
    },
    build(origin) {
      const { sha256, ...facts } = origin;
      const previous = before?.snapshot.entries ?? [];
      const isSame =
        shared === previous.length &&
        entries.length === previous.length &&
        entries.every((entry, position) => entry === previous[position]);
      if (before !== null && isSame && origin.source === before.snapshot.source)
        return { snapshot: before.snapshot, sha256, quarantined };
      const id = before !== null && isSame ? before.snapshot.id : stateIdOf(sha256, quarantined);
      return { snapshot: createSnapshot({ id, ...facts, entries }), sha256, quarantined };
    },
  };
}

/** State of the same price map after a change of the releases; `state` itself when no quarantined price is released. */
export function withReleases(state: CatalogState, isReleased: IsReleased): CatalogState {
  const { snapshot, sha256 } = state;
  const quarantined = new Map(state.quarantined);
  const replaced = new Map<string, CatalogEntry>();
  for (const [id, { raw, prices }] of state.quarantined) {
    const remaining = prices.filter(({ field, value }) => !isReleased(id, field, value));
    if (remaining.length === prices.length) continue;
    replaced.set(id, entryOf([id, withServedValues(raw, remaining)]));
    if (remaining.length === 0) quarantined.delete(id);
    else quarantined.set(id, { raw, prices: remaining });
  }
  if (replaced.size === 0) return state;
  const entries = snapshot.entries.map((entry) => replaced.get(entry.id) ?? entry);
  const { takenAt, source } = snapshot;
  return {
    snapshot: createSnapshot({ id: stateIdOf(sha256, quarantined), takenAt, source, entries }),
    sha256,
    quarantined,
  };
}
