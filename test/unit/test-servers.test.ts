import { expect, it } from 'vitest';
import { assertAnswers } from '../support/test-servers.ts';

const URL_OF_TESTS = 'redis://127.0.0.1:1';
const MESSAGE = 'The server of LENSGATE_TEST_X_URL does not answer. Start it, or unset the variable.';

it('a server of the tests that answers is accepted', async () => {
  const asked: string[] = [];
  await assertAnswers('LENSGATE_TEST_X_URL', URL_OF_TESTS, ({ href }) => Promise.resolve(asked.push(href)));
  expect(asked).toEqual([URL_OF_TESTS]);
});

it('a server of the tests that refuses connections fails at once', async () => {
  const refused = new Error('ECONNREFUSED');
  const checked = assertAnswers('LENSGATE_TEST_X_URL', URL_OF_TESTS, () => Promise.reject(refused));
  await expect(checked).rejects.toEqual(new Error(MESSAGE, { cause: refused }));
});

it('a server of the tests that never answers fails at the deadline', async () => {
  const never = Promise.withResolvers<void>().promise;
  const checked = assertAnswers('LENSGATE_TEST_X_URL', URL_OF_TESTS, () => never, 1);
  await expect(checked).rejects.toEqual(new Error(MESSAGE, { cause: new Error('No answer within 1 ms.') }));
});
