import { describe, expect, it } from 'vitest';
import {
  createTextSlabs,
  mergeAdjacent,
  type SlabPlace,
  textAt,
} from '../../../src/persistence/call-log/text-slabs.ts';

describe('texts in slabs', () => {
  it('are unchanged, also across the end of a slab and larger than a slab', () => {
    const place = createTextSlabs();
    const texts = ['', 'ö\u{1F600}', 'a'.repeat(100_000), 'b'.repeat(90_000), 'c'.repeat(300_000), 'd'];
    const places = texts.map(place);
    expect(places.map(textAt)).toEqual(texts);
    // A slab has 256 KiB, or three bytes per character of a larger text. The next text follows in the rest.
    expect(places.at(-1)?.slab).toBe(places.at(-2)?.slab);
  });

  it('are merged only where they are adjacent', () => {
    const place = createTextSlabs();
    const [a, b, c, d] = ['aa', 'b', 'cc', 'd'].map(place) as [SlabPlace, SlabPlace, SlabPlace, SlabPlace];
    const elsewhere = createTextSlabs()('ee');
    expect(mergeAdjacent([a, b, d, elsewhere, c]).map(textAt)).toEqual(['aab', 'd', 'ee', 'cc']);
    expect(mergeAdjacent([b, a]).map(textAt)).toEqual(['b', 'aa']);
    expect(mergeAdjacent([])).toEqual([]);
  });
});
