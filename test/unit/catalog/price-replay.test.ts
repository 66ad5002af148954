import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import {
  type CatalogChange,
  changesOf,
  compareStates,
  fieldKindOf,
  stateOfSnapshot,
  watchedFieldsOf,
} from '../../../src/domain/catalog/changes.ts';
import { readChangeLine } from '../../../src/domain/catalog/change-line.ts';
import type { EntryHistory, HistorySpan } from '../../../src/domain/catalog/history.ts';
import { pricesAt } from '../../../src/domain/catalog/price-history.ts';
import { sharedData, snapshotOfFile, snapshotOfRows } from '../../support/catalog-maps.ts';
import { randomFrom } from '../../support/random.ts';

const NOW = new Date('2026-11-21T00:00:00Z');

const isAboutPrices = ({ field }: CatalogChange): boolean => field === null || fieldKindOf(field) === 'price';

/** Histories of all entries over consecutive states. State `n` is recorded at `n` ms. */
function historiesOf(states: readonly CatalogSnapshot[]): ReadonlyMap<string, EntryHistory> {
  const changes = states.slice(1).flatMap((later, index) => {
    const earlier = states[index] ?? later;
    const detectedAt = new Date(index + 1);
    return [...compareStates(stateOfSnapshot(earlier), later)]
      .flat()
      .flatMap((difference) => changesOf(difference, { at: detectedAt, notBefore: null, snapshotId: later.id }));
  });
  const byEntry = Map.groupBy(changes.filter(isAboutPrices), ({ entryId }) => entryId);
  const latestState = states.at(-1);
  const spans: readonly HistorySpan[] = [{ source: 'recorded', from: new Date(0), to: null }];
  const ids = new Set(states.flatMap(({ entries }) => entries.map(({ id }) => id)));
  return new Map(
    [...ids].map((entryId) => {
      const entry = latestState?.find(entryId) ?? null;
      const fields = entry === null ? null : watchedFieldsOf(entry);
      return [entryId, { entryId, changes: byEntry.get(entryId) ?? [], complete: true, fields, spans }];
    }),
  );
}

/** Prices of an entry in a state. */
function pricesIn(state: CatalogSnapshot, entryId: string): Readonly<Record<string, unknown>> | null {
  const entry = state.find(entryId);
  if (entry === null) return null;
  return Object.fromEntries(Object.entries(watchedFieldsOf(entry)).filter(([name]) => fieldKindOf(name) === 'price'));
}

/** Prices of an entry by its history. Null when it is not listed; undefined when its listing or a price is unknown. */
function replayedPrices(
  history: EntryHistory,
  at: Date,
  now: Date,
): Readonly<Record<string, unknown>> | null | undefined {
  const { listed, prices } = pricesAt(history, at, now);
  if (listed === null || !prices.every(({ known }) => known)) return undefined;
  if (!listed) return null;
  return Object.fromEntries(prices.flatMap(({ field, value }) => (value === null ? [] : [[field, value]])));
}

type EntryPrices = readonly [entryId: string, index: number, prices: ReturnType<typeof replayedPrices>];

/** Prices of every entry in every state: the actual ones, and those by the histories. */
function actualAndReplayed(states: readonly CatalogSnapshot[]): {
  readonly actual: readonly EntryPrices[];
  readonly replayed: readonly EntryPrices[];
} {
  const now = new Date(states.length);
  const readings = [...historiesOf(states).values()].flatMap((history) =>
    states.map((state, index) => ({ history, state, index })),
  );
  return {
    actual: readings.map(({ history: { entryId }, state, index }) => [entryId, index, pricesIn(state, entryId)]),
    replayed: readings.map(({ history, index }) => [
      history.entryId,
      index,
      replayedPrices(history, new Date(index), now),
    ]),
  };
}

describe('prices replayed from history', () => {
  it('equal the actual prices in every recorded state', () => {
    const random = randomFrom(8_481);
    const names = ['input_cost_per_token', 'output_cost_per_token', 'tiered_pricing', 'rpm'];
    const values = [0, 1.4e-8, 5, null, { low: [1, 2] }, '1e-6'];
    const aRow = () =>
      Object.fromEntries(names.filter(() => random(3) > 0).map((name) => [name, values[random(values.length)]]));
    for (let round = 0; round < 100; round += 1) {
      const states = Array.from({ length: 8 }, (_, index) =>
        snapshotOfRows(
          `s${index}`,
          Object.fromEntries(['a', 'b', 'c'].filter(() => random(4) > 0).map((id) => [id, aRow()])),
        ),
      );
      const { actual, replayed } = actualAndReplayed(states);
      expect(replayed).toEqual(actual);
    }
  });

  const [before, after] = [sharedData('model_prices_prev.json'), sharedData('model_prices.json')];
  it.skipIf(before === null || after === null)('equal the actual prices of two real maps, in both directions', () => {
    const [earlier, later] = [snapshotOfFile('earlier', before ?? ''), snapshotOfFile('later', after ?? '')];
    const { actual, replayed } = actualAndReplayed([earlier, later, earlier]);
    expect(replayed).toEqual(actual);
  });

  const file = sharedData('model_prices_history.jsonl');
  it.skipIf(file === null)('equal the prices in 18 months of real changes', () => {
    const changes = readFileSync(file ?? '', 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => {
        const read = readChangeLine(line, NOW);
        return 'change' in read ? read.change : [];
      });
    const [start, end] = [changes[0]?.at ?? NOW, changes.at(-1)?.at ?? NOW];
    const spans: readonly HistorySpan[] = [{ source: 'imported', from: start, to: end }];
    // Both instants are later than the imported history, so their prices are unknown.
    const [gap, future] = [new Date('2026-09-01'), new Date('2027-01-01')];
    const results = [...Map.groupBy(changes.filter(isAboutPrices), ({ entryId }) => entryId)].flatMap(
      ([entryId, changesOfEntry]) => {
        const history = { entryId, changes: changesOfEntry, complete: true, fields: null, spans };
        return changesOfEntry.flatMap(({ at, field, old, new: updated }) => {
          // The history begins at the first change, so it has no instant before it.
          const justBefore = at > start ? new Date(at.getTime() - 1) : null;
          if (field === null || justBefore === null) return [];
          const replayed = [justBefore, at, gap, future].map((instant) => {
            const price = pricesAt(history, instant, NOW).prices.find((candidate) => candidate.field === field);
            return price?.known === true ? price.value : 'unknown';
          });
          return [{ replayed, expected: [old, updated, 'unknown', 'unknown'] }];
        });
      },
    );
    expect(results.map(({ replayed }) => replayed)).toEqual(results.map(({ expected }) => expected));
    expect(results.length).toBeGreaterThan(1_500);
  });
});
