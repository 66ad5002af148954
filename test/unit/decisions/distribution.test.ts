import { describe, expect, it } from 'vitest';
import { answerOf, normalised } from '../../../src/domain/decisions/distribution.ts';

describe('normalised weights', () => {
  it.each([
    [
      [1, 1],
      [0.5, 0.5],
    ],
    [
      [3, 1, 0],
      [0.75, 0.25, 0],
    ],
    [
      [1e308, 1e308],
      [0.5, 0.5],
    ],
    [
      [Number.MAX_VALUE, 0, Number.MAX_VALUE, 0],
      [0.5, 0, 0.5, 0],
    ],
    [
      [5e-324, 5e-324],
      [0.5, 0.5],
    ],
    [
      [1e308, 1e-308],
      [1, 0],
    ],
  ])('%j become %j', (weights, probabilities) => {
    expect(normalised(weights)).toEqual(probabilities);
  });

  it('have the exact sum 1, also where the sum of the weights is not finite', () => {
    const many = Array.from({ length: 255 }, (_unused, index) => Number.MAX_VALUE / (1 + (index % 7)));
    const probabilities = normalised(many) ?? [];
    expect(probabilities.reduce((sum, probability) => sum + probability, 0)).toBe(1);
    expect(probabilities[0]).toBeCloseTo(7 * (probabilities[6] ?? 0), 6);
  });

  it('are null where no weight is above 0', () => {
    expect(normalised([0, 0])).toBeNull();
    expect(normalised([])).toBeNull();
  });

  it('that are equal give an answer with the confidence 0', () => {
    const question = { kind: 'choice' as const, name: 'c', instructions: 'x', more: {} };
    const options = ['a', 'b'].map((value) => ({ value, description: null }));
    const probabilities = normalised([1e308, 1e308]) ?? [];
    expect(answerOf({ ...question, options }, probabilities, undefined)).toMatchObject({ choice: 'a', confidence: 0 });
  });
});
