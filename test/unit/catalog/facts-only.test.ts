import { expect, it } from 'vitest';
import { factsOf } from '../../../scripts/facts-only.ts';

it('factsOf keeps facts of a catalog row, and leaves out comments, notes and texts with white space', () => {
  const row = {
    mode: 'chat',
    source: 'https://example.com/prices#a',
    deprecation_date: '2027-01-01',
    input_cost_per_token: 1e-6,
    supports_vision: false,
    unknown: null,
    levels: ['low', 'as you like it'],
    empty: [],
    comment: 'short',
    provenance: 'asked the vendor',
    metadata: { notes: 'half and half', successor: 'b/c' },
    only_prose: { note: 'two words' },
  };
  expect(factsOf(row)).toEqual({
    mode: 'chat',
    source: 'https://example.com/prices#a',
    deprecation_date: '2027-01-01',
    input_cost_per_token: 1e-6,
    supports_vision: false,
    unknown: null,
    levels: ['low'],
    empty: [],
    metadata: { successor: 'b/c' },
  });
});
