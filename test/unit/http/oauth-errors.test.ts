import { expect, it } from 'vitest';
import { hasOauthForm, oauthBody } from '../../../rest-shims/helpers/http/oauth-errors.ts';
import { renderFormedError } from '../../../rest-shims/helpers/http/row-errors.ts';
import { OauthFailure, UnknownLoginClient } from '../../../src/domain/command-line-sessions/oauth-failure.ts';
import {
  Conflict,
  type DomainError,
  Forbidden,
  InvalidInput,
  LimitExceeded,
  TooLarge,
  Unavailable,
} from '../../../src/domain/errors.ts';
import { SignInRefused, SignInThrottled } from '../../../src/domain/users/sign-in.ts';

const rendered = (error: DomainError) => {
  const { status, headers, body } = renderFormedError({ body: 'oauth' }, error, {});
  return { status, headers, body: JSON.parse(Buffer.from(body).toString()) as unknown };
};
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

it.each([
  [new OauthFailure('invalid_grant', 'no'), 400, 'invalid_grant'],
  [new InvalidInput('no'), 400, 'invalid_request'],
  [new TooLarge('no', 1), 400, 'invalid_request'],
  [new UnknownLoginClient(), 401, 'invalid_client'],
  [new SignInRefused(), 401, 'access_denied'],
  [new Forbidden('no'), 403, 'access_denied'],
  [new Conflict('no'), 400, 'server_error'],
])('%s is answered with the code of RFC 6749', (error, status, code) => {
  expect(rendered(error)).toEqual({
    status,
    headers: NO_STORE,
    body: { error: code, error_description: error.message },
  });
});

it.each([
  [new LimitExceeded('no', 'requests', 7), 429, '7'],
  [new SignInThrottled(7), 429, '7'],
  [new Unavailable('no'), 503, '2'],
])('%s says when to try again', (error, status, seconds) => {
  expect(rendered(error)).toEqual({
    status,
    headers: { ...NO_STORE, 'retry-after': seconds },
    body: { error: 'temporarily_unavailable', error_description: error.message },
  });
});

it('invalid parameters have the form of the surface', () => {
  const error = new InvalidInput('no', [{ path: ['query', 'x'], rule: 'missing', message: 'Field required' }]);
  expect(hasOauthForm(error)).toBe(false);
  expect(rendered(error).body).toEqual({ detail: [{ type: 'missing', loc: ['query', 'x'], msg: 'Field required' }] });
  expect(oauthBody(new InvalidInput('no'))).toEqual({ error: 'invalid_request', error_description: 'no' });
});
