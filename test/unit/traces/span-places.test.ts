import { expect, it } from 'vitest';
import { SpanPlaces } from '../../../src/domain/traces/span-places.ts';
import { seeded } from '../../support/random-export.ts';

it('an index of span ids finds ids at their position, and reports whether an added id is new', () => {
  const places = new SpanPlaces();
  expect(['a1', 'b2', 'a1', '', 'b2', ''].map((id) => places.add(id))).toEqual([true, true, false, true, false, false]);
  expect(places.ids).toEqual(['a1', 'b2', '']);
  expect(['b2', 'a1', '', 'c3', '2b'].map((id) => places.find(id))).toEqual([1, 0, 2, -1, -1]);
});

it('an index of span ids behaves like a map, with equal and different ids', () => {
  const draw = seeded(11);
  const places = new SpanPlaces();
  const expected = new Map<string, number>();
  const wrong: string[] = [];
  // Enough ids for about ten collisions of their 30-bit hashes. Every eighth id is one of 4,096 short ids, which
  // repeat.
  for (let turn = 0; turn < 160_000; turn += 1) {
    const id = turn % 8 === 0 ? draw(4_096).toString(16) : draw(2 ** 31).toString(16) + draw(2 ** 31).toString(16);
    if (places.add(id) === expected.has(id)) wrong.push(id);
    if (!expected.has(id)) expected.set(id, expected.size);
  }
  for (const [id, place] of expected) if (places.find(id) !== place) wrong.push(id);
  expect(wrong).toEqual([]);
  expect(places.ids).toEqual([...expected.keys()]);
});
