import { describe, expect, it } from 'vitest';
import type { CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import {
  type CatalogChange,
  changesOf,
  compareStates,
  type EarlierState,
  fieldKindOf,
  isEquivalent,
  stateOfRecord,
  stateOfSnapshot,
  type WatchedFields,
  watchedFieldsOf,
} from '../../../src/domain/catalog/changes.ts';
import { aSnapshot, sharedData, snapshotOfFile, snapshotOfRows } from '../../support/catalog-maps.ts';
import { randomFrom } from '../../support/random.ts';

const DETECTION = { at: new Date(5), notBefore: new Date(3), snapshotId: 'later' };

function changesBetween(earlier: EarlierState, later: CatalogSnapshot): readonly CatalogChange[] {
  return [...compareStates(earlier, later)].flat().flatMap((difference) => changesOf(difference, DETECTION));
}

const stateOf = ({ entries }: CatalogSnapshot): ReadonlyMap<string, WatchedFields> =>
  new Map(entries.map((entry) => [entry.id, watchedFieldsOf(entry)]));

/** The earlier state, restored from the later state and the changes. */
function walkBack(
  after: ReadonlyMap<string, WatchedFields>,
  changes: readonly CatalogChange[],
): ReadonlyMap<string, WatchedFields> {
  const state = new Map(after);
  for (const { entryId, op, field, old } of changes.toReversed()) {
    if (op === 'added') state.delete(entryId);
    else if (op === 'removed') state.set(entryId, old as WatchedFields);
    else {
      const { [field ?? '']: _laterValue, ...others } = state.get(entryId) ?? {};
      state.set(entryId, old === null ? others : { ...others, [field ?? '']: old });
    }
  }
  return state;
}

describe('the fields of an entry that history stores', () => {
  it.each([
    ['input_cost_per_token', 'price'],
    ['search_context_cost_per_query', 'price'],
    ['tiered_pricing', 'price'],
    ['regional_processing_uplift_multiplier_eu', 'price'],
    ['max_tokens', 'limit'],
    ['rpm', 'limit'],
    ['supports_vision', 'flag'],
    ['bedrock_converse_supports_strict_tools', 'flag'],
    ['deprecation_date', 'date'],
    ['provider', 'provider'],
    ['mode', 'mode'],
    ['source', null],
    ['supported_modalities', null],
    ['metadata', null],
    ['litellm_provider', null],
  ])('have a category by name, and other fields have none: %s has %s', (name, kind) => {
    expect(fieldKindOf(name)).toBe(kind);
  });

  it('exclude empty values, unwatched fields and values that nest too deep', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 5_000; depth += 1) deep = [deep];
    const row = {
      litellm_provider: 'p',
      mode: 'chat',
      max_tokens: null,
      rpm: 3,
      source: 'x',
      input_cost_per_token: deep,
    };
    expect(watchedFieldsOf({ provider: 'p', mode: 'chat', row })).toEqual({ provider: 'p', mode: 'chat', rpm: 3 });
    expect(watchedFieldsOf({ provider: null, mode: null, row: {} })).toEqual({});
  });
});

describe('the difference of two states', () => {
  it('has one change for each changed field, and one change for each added or removed entry', () => {
    const earlier = snapshotOfRows('earlier', {
      stays: { mode: 'chat', input_cost_per_token: 1e-6 },
      moves: { litellm_provider: 'p', input_cost_per_token: 1e-6, max_tokens: 5, source: 'a' },
      goes: { litellm_provider: 'q', mode: 'chat' },
    });
    const later = snapshotOfRows('later', {
      comes: { supports_vision: false },
      moves: { litellm_provider: 'p', input_cost_per_token: 2e-6, supports_vision: true, source: 'b' },
      stays: { mode: 'chat', input_cost_per_token: 1e-6, source: 'new' },
    });
    const moved = { ...DETECTION, entryId: 'moves', provider: 'p', op: 'changed' };
    expect(changesBetween(stateOfSnapshot(earlier), later)).toEqual([
      {
        ...DETECTION,
        entryId: 'comes',
        provider: null,
        op: 'added',
        field: null,
        old: null,
        new: { supports_vision: false },
      },
      { ...moved, field: 'input_cost_per_token', old: 1e-6, new: 2e-6 },
      { ...moved, field: 'supports_vision', old: null, new: true },
      { ...moved, field: 'max_tokens', old: 5, new: null },
      {
        ...DETECTION,
        entryId: 'goes',
        provider: 'q',
        op: 'removed',
        field: null,
        old: { provider: 'q', mode: 'chat' },
        new: null,
      },
    ]);
  });

  it('compares tables of prices by their values', () => {
    expect(isEquivalent({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] })).toBe(true);
    for (const different of [
      { a: [1, { b: 3 }] },
      { a: { 0: 1, 1: { b: 2 } } },
      { a: [1] },
      { d: [1, { b: 2 }] },
      null,
      '1',
    ])
      expect(isEquivalent({ a: [1, { b: 2 }] }, different)).toBe(false);
    expect(isEquivalent(1e-6, '1e-6')).toBe(false);
  });

  it('does not read an entry that is the same object in both states', () => {
    const readRows: string[] = [];
    const entries = ['a', 'b'].map((id) => ({
      id,
      provider: null,
      mode: null,
      get row() {
        readRows.push(id);
        return {};
      },
    }));
    const changedEntry = { id: 'b', provider: null, mode: 'chat', row: {} };
    const later = aSnapshot('later', [entries[0] as (typeof entries)[0], changedEntry]);
    expect(changesBetween(stateOfSnapshot(aSnapshot('earlier', entries)), later)).toHaveLength(1);
    expect(readRows).toEqual(['b']);
  });

  it('leaves out ids and fields that no database can store', () => {
    const rows = { 'a\0': { rpm: 1 }, '\ud800': { rpm: 1 }, ['x'.repeat(513)]: { rpm: 1 }, '': { rpm: 1 } };
    const later = snapshotOfRows('later', { ...rows, storable: { rpm: 1, ['max_'.repeat(200)]: 1, 'max_\0': 1 } });
    const changes = changesBetween(stateOfRecord(new Map()), later);
    expect(changes.map(({ entryId, new: fields }) => [entryId, fields])).toEqual([['storable', { rpm: 1 }]]);
    expect(changesBetween(stateOfSnapshot(snapshotOfRows('earlier', rows)), snapshotOfRows('later', {}))).toEqual([]);
  });

  it('is split into parts of at most a hundred entries', () => {
    const rows = (price: number) =>
      Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`m${index}`, { input_cost_per_token: price + index }]),
      );
    const parts = [...compareStates(stateOfSnapshot(snapshotOfRows('1', rows(0))), snapshotOfRows('2', rows(1)))];
    expect(parts.flat()).toHaveLength(5_000);
    expect(Math.max(...parts.map(({ length }) => length))).toBe(100);
    const removals = [...compareStates(stateOfRecord(stateOf(snapshotOfRows('1', rows(0)))), snapshotOfRows('2', {}))];
    expect([removals.flat().length, Math.max(...removals.map(({ length }) => length))]).toEqual([5_000, 100]);
  });

  it('restores the earlier state after random edits', () => {
    const random = randomFrom(20_261_121);
    const names = [
      'input_cost_per_token',
      'max_tokens',
      'supports_vision',
      'mode',
      'litellm_provider',
      'tiered_pricing',
    ];
    const values = [0, 1.4e-8, 5, true, false, 'p', null, { low: [1, 2] }, { low: [1, 3] }, [], ''];
    const aRow = () =>
      Object.fromEntries(names.filter(() => random(3) > 0).map((name) => [name, values[random(values.length)]]));
    const aMap = () =>
      Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [`m${index}`, aRow()] as const).filter(() => random(4) > 0),
      );
    for (let round = 0; round < 200; round += 1) {
      const [earlier, later] = [snapshotOfRows('earlier', aMap()), snapshotOfRows('later', aMap())];
      const changes = changesBetween(stateOfSnapshot(earlier), later);
      expect(walkBack(stateOf(later), changes)).toEqual(stateOf(earlier));
      expect(changesBetween(stateOfRecord(stateOf(earlier)), later)).toEqual(changes);
      expect(changesBetween(stateOfSnapshot(later), later)).toEqual([]);
    }
  });

  const [before, after] = [sharedData('model_prices_prev.json'), sharedData('model_prices.json')];
  it.skipIf(before === null || after === null)('restores one real map from the other', () => {
    const [earlier, later] = [snapshotOfFile('earlier', before ?? ''), snapshotOfFile('later', after ?? '')];
    const changes = changesBetween(stateOfSnapshot(earlier), later);
    // The newer map has two entries that the earlier one has not.
    expect(changes.filter(({ op }) => op === 'added')).toHaveLength(2);
    expect(changes.filter(({ op }) => op === 'removed')).toEqual([]);
    expect(walkBack(stateOf(later), changes)).toEqual(stateOf(earlier));
    expect(walkBack(stateOf(earlier), changesBetween(stateOfSnapshot(later), earlier))).toEqual(stateOf(later));
  });
});
