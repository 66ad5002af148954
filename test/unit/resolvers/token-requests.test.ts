import { expect, it } from 'vitest';
import { issueLoginTokens } from '../../../resolvers/command-line-authorization.ts';
import type { SignInPlatform } from '../../../resolvers/operation/sign-in-platform.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { LimitExceeded } from '../../../src/domain/errors.ts';

const REFUSED = new LimitExceeded('Too many token requests from your address. Try again later.', 'requests', 1);

it('token requests of registered clients also count by network, because one network can register many clients', () => {
  const counted: string[] = [];
  const signIns = {
    clients: { find: () => ({ name: 'n', redirectUris: [] }) },
    networkRateLimiter: {
      count(network: string) {
        counted.push(network);
        throw REFUSED;
      },
    },
    clientRateLimiter: { count() {} },
    tokenRateLimiter: { count() {} },
  };
  const platform = { signIns, keyGenerator: { hash: (text: string) => text } };
  const scope = { platform, client: { network: '192.0.2.1' }, caller: null } as unknown as Scope<SignInPlatform>;
  const request = { grantType: 'refresh_token', clientId: 'c', refreshToken: 'rt', resource: null } as const;
  expect(() => issueLoginTokens(scope, { ...request, address: null } as never)).toThrow(REFUSED);
  expect(counted).toEqual(['192.0.2.1']);
});
