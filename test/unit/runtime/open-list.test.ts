import { describe, expect, it } from 'vitest';
import { OpenList, type Place } from '../../../src/domain/open-list.ts';
import { randomFrom } from '../../support/random.ts';

describe('a list of running work', () => {
  it.each(Array.from({ length: 10 }, (_, seed) => [seed]))('has its values in insertion order (seed %i)', (seed) => {
    const random = randomFrom(seed);
    const list = new OpenList<number>();
    const places: Place<number>[] = [];
    for (let step = 0; step < 500; step += 1) {
      const removed = random(5) < 3 ? [] : places.splice(random(places.length), 1);
      if (removed.length === 0) places.push(list.add(step));
      const [place] = removed;
      // The second removal of a place returns false.
      const results = place === undefined ? [] : [list.remove(place), list.remove(place)];
      expect(results).toEqual(removed.flatMap(() => [true, false]));
      const values = places.map(({ value }) => value);
      expect([[...list], list.size, list.oldest]).toEqual([values, values.length, values[0] ?? null]);
    }
  });

  it('excludes values that are removed during an iteration', () => {
    const list = new OpenList<string>();
    const places = ['a', 'b', 'c', 'd'].map((value) => list.add(value));
    const visited: string[] = [];
    for (const value of list) {
      visited.push(value);
      for (const place of places.slice(0, 3)) list.remove(place);
    }
    expect([visited, [...list]]).toEqual([['a', 'd'], ['d']]);
  });
});
