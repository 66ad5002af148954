import { expect, it } from 'vitest';
import { parseLazily } from '../../../rest-shims/helpers/http/json-body.ts';

const REQUEST = { model: 'm', messages: [{ role: 'user', content: 'Hello. '.repeat(2_000) }] };
const body = Buffer.from(JSON.stringify(REQUEST));

it('large members of a large body are parsed later, unless the body is parsed eagerly', () => {
  expect([...parseLazily({ body }, {}).unread.keys()]).toEqual(['messages']);
  const whole = parseLazily({ body, parsesEagerly: true }, { stream: true });
  expect(whole.fields).toEqual({ ...REQUEST, stream: true });
  expect(whole.unread.size).toBe(0);
});
