import { expect, it } from 'vitest';
import { EMBEDDINGS, SPEECH } from '../../../src/domain/inference/endpoint.ts';
import { billedQuantityOf } from '../../../src/domain/inference/billed-quantity.ts';

const speech = (input: unknown) => billedQuantityOf(SPEECH, { model: 'm', input });

it.each([
  ['', 0],
  ['Hello', 5],
  ['Zoë 😀', 5],
  ['\uD83D', 1],
])('%j has %i characters', (input, count) => {
  expect(speech(input)).toEqual({ unit: 'character', count });
});

it('quantities that the answer reports are not measured before the call', () => {
  expect(billedQuantityOf(EMBEDDINGS, { model: 'm', input: 'Hello' })).toBeUndefined();
});
