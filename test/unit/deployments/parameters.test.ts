import { expect, it } from 'vitest';
import {
  maskedParameters,
  splitParameters,
  revealedParameters,
  shownParameters,
} from '../../../src/domain/deployments/parameters.ts';

it('extra headers of calls are secret, whatever their names', () => {
  const parameters = { model: 'openai/m', extra_headers: { 'x-tenant': 'hidden' }, max_tokens: 5 };
  const split = splitParameters(parameters);
  expect(shownParameters(split)).toEqual({ model: 'openai/m', max_tokens: 5 });
  expect(maskedParameters(split)).toEqual({ model: 'openai/m', max_tokens: 5, extra_headers: '****' });
  expect(revealedParameters(split)).toEqual(parameters);
});
