import { expect, it } from 'vitest';
import { renamedEvent } from '../../../src/wire/responses/rename.ts';

it('an event with two `response` members is renamed in the last one, which parsers use', () => {
  const data = Buffer.from('{"response":{"model":"first"},"type":"response.created","response":{"model":"upstream"}}');
  const renamed = renamedEvent(data, { model: 'upstream' }, { model: 'public', idOf: (id) => id });
  expect(JSON.parse(renamed.toString())).toEqual({ type: 'response.created', response: { model: 'public' } });
});
