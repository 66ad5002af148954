import { describe, expect, it } from 'vitest';
import { mapFault, modelsOfMap } from '../../../src/domain/catalog/price-map.ts';

const models = (count: number) => Array.from({ length: count }, (_, index) => [`m${index}`, {}] as const);

describe('a price map', () => {
  it('has its rows as models, without documentation, rules and values that are not rows', () => {
    const map = {
      sample_spec: {},
      b: { mode: 'chat' },
      last_updated: 'today',
      list: [],
      a: {},
      fallback_generalizations: {},
    };
    expect(modelsOfMap(map)).toEqual([
      ['b', { mode: 'chat' }],
      ['a', {}],
    ]);
  });
  it.each([[null], [[]], ['text'], [1]])('is refused when it is %j', (map) => {
    expect(mapFault(modelsOfMap(map), 0)).toBe('the price map is not a JSON object');
  });
  it('has at least fifty models', () => {
    expect([mapFault(models(50), 0), mapFault(models(49), 0)]).toEqual([
      null,
      'the price map has 49 models, fewer than 50',
    ]);
  });
  it('has at most fifty thousand models', () => {
    expect([mapFault(models(50_000), 0), mapFault(models(50_001), 0)]).toEqual([
      null,
      'the price map has 50001 models, more than 50000',
    ]);
  });
  it('has rows of at most sixteen levels', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    const faults = [15, 16].map((levels) => mapFault([...models(60), ['x', { deep: nested(levels) }]], 0));
    expect(faults).toEqual([null, "entry 'x': nested more than 16 levels deep"]);
  });
  it('may shrink to half of its models, but not further', () => {
    expect([mapFault(models(100), 200), mapFault(models(99), 200)]).toEqual([
      null,
      'the price map shrank from 200 to 99 models',
    ]);
  });
  it('is refused as a whole for one value of the wrong type', () => {
    expect(mapFault([...models(60), ['x', { max_tokens: 'many' }]], 0)).toBe(
      "entry 'x': max_tokens is not of type integer",
    );
  });
});
