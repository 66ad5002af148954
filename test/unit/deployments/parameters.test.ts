import { expect, it } from 'vitest';
import {
  maskedParameters,
  splitParameters,
  revealedParameters,
  shownParameters,
} from '../../../src/domain/deployments/parameters.ts';

it('headers of calls with any name are secret', () => {
  const sent = { model: 'openai/m', extra_headers: { 'x-tenant': 'hidden' }, max_tokens: 5 };
  const parted = splitParameters(sent);
  expect(shownParameters(parted)).toEqual({ model: 'openai/m', max_tokens: 5 });
  expect(maskedParameters(parted)).toEqual({ model: 'openai/m', max_tokens: 5, extra_headers: '****' });
  expect(revealedParameters(parted)).toEqual(sent);
});
