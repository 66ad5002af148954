import { hash } from 'node:crypto';
import type { CatalogEntry, CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { PricedModel } from '../../domain/catalog/price-map.ts';
import { type HeldPrice, type Hold, judgeRow, withoutHeld } from '../../domain/catalog/quarantine.ts';
import { sameValue } from '../../domain/catalog/same-value.ts';
import { createSnapshot, entryOf, snapshotIdOf } from './snapshot.ts';

type Row = PricedModel[1];

/** An entry of which something is kept out: its row as the price map has it, and what of it. */
interface HeldEntry {
  readonly raw: Row;
  readonly holds: readonly HeldPrice[];
}

/** What is served, and what is kept out of it. */
export interface CatalogState {
  readonly snapshot: CatalogSnapshot;
  /** SHA-256 in hex of the price map behind it. */
  readonly sha256: string;
  /** By entry id, in the order of the entries. */
  readonly held: ReadonlyMap<string, HeldEntry>;
}

/** Whether an admin has released this value of this field. */
export type IsReleased = (entryId: string, field: string, value: unknown) => boolean;

/** Where a state's data is from. */
type Origin = Pick<CatalogSnapshot, 'takenAt' | 'source'> & { readonly sha256: string };

/** Takes the models of a price map one after another and makes them the next state. */
export interface StateBuilder {
  add(model: PricedModel): void;
  /** The state; the snapshot is the one before when nothing that is served has changed. */
  build(origin: Origin): CatalogState;
}

/** Names this value of this field. */
const holdIdOf = ({ entryId, field, value }: Hold): string =>
  hash('sha256', JSON.stringify([entryId, field, value]), 'base64url').slice(0, 22);

/** Hex digits of what differs from the map are hashed together with the map's own. */
function stateIdOf(sha256: string, held: CatalogState['held']): string {
  if (held.size === 0) return snapshotIdOf(sha256);
  const differences = [...held.values()].flatMap(({ holds }) =>
    holds.map(({ entryId, field, served }) => [entryId, field, served ?? null]),
  );
  return snapshotIdOf(hash('sha256', sha256 + JSON.stringify(differences), 'hex'));
}

/**
 * Judges every row against `before` and shares with it every entry that has not changed, so that a state costs
 * what differs from the one before it.
 */
export function stateBuilder(before: CatalogState | null, isReleased: IsReleased, now: Date): StateBuilder {
  const entries: CatalogEntry[] = [];
  const held = new Map<string, HeldEntry>();
  let shared = 0;

  function hold(id: string, raw: Row, holds: readonly Hold[]): void {
    const known = new Map(before?.held.get(id)?.holds.map((one) => [one.id, one]));
    const named = holds.map((one): HeldPrice => {
      const holdId = holdIdOf(one);
      return { id: holdId, ...one, since: known.get(holdId)?.since ?? now };
    });
    held.set(id, { raw, holds: named });
  }

  return {
    add([id, raw]) {
      const known = before?.snapshot.find(id) ?? null;
      if (known !== null && sameValue(raw, known.row)) {
        shared += 1;
        return void entries.push(known);
      }
      const { row, holds } = judgeRow(id, raw, known?.row ?? null, (field, value) => isReleased(id, field, value));
      if (holds.length > 0) hold(id, raw, holds);
      if (known === null || !sameValue(row, known.row)) return void entries.push(entryOf([id, row]));
      shared += 1;
      entries.push(known);
    },
    build(origin) {
      const { sha256, ...facts } = origin;
      const last = before?.snapshot.entries ?? [];
      const isSame =
        shared === last.length && entries.length === last.length && entries.every((entry, at) => entry === last[at]);
      if (before !== null && isSame && origin.source === before.snapshot.source)
        return { snapshot: before.snapshot, sha256, held };
      const id = before !== null && isSame ? before.snapshot.id : stateIdOf(sha256, held);
      return { snapshot: createSnapshot({ id, ...facts, entries }), sha256, held };
    },
  };
}

/** The same price map judged anew, because releases changed. The state itself when nothing that is held may go. */
export function judgedAnew(state: CatalogState, isReleased: IsReleased): CatalogState {
  const { snapshot, sha256 } = state;
  const held = new Map(state.held);
  const replaced = new Map<string, CatalogEntry>();
  for (const [id, { raw, holds }] of state.held) {
    const remaining = holds.filter(({ field, value }) => !isReleased(id, field, value));
    if (remaining.length === holds.length) continue;
    replaced.set(id, entryOf([id, withoutHeld(raw, remaining)]));
    if (remaining.length === 0) held.delete(id);
    else held.set(id, { raw, holds: remaining });
  }
  if (replaced.size === 0) return state;
  const entries = snapshot.entries.map((entry) => replaced.get(entry.id) ?? entry);
  const { takenAt, source } = snapshot;
  return { snapshot: createSnapshot({ id: stateIdOf(sha256, held), takenAt, source, entries }), sha256, held };
}
