import { systemClock } from '../../src/runtime/clock.ts';
import { expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../src/domain/chat/provider.ts';
import { createProviders } from '../../src/providers/providers.ts';
import { createAwsAccounts } from '../../src/runtime/credentials/aws-accounts.ts';
import { createGoogleTokens } from '../../src/runtime/credentials/google-tokens.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { webSocketClient } from '../../src/runtime/network/web-sockets.ts';

it('every provider name has an adapter, and every adapter a provider name', () => {
  const tools = {
    http: createHttpClient(),
    sockets: webSocketClient,
    googleTokens: createGoogleTokens(),
    awsAccounts: createAwsAccounts(),
    clock: systemClock,
  };
  const names = createProviders(tools).map(({ name }) => name);
  expect(names.toSorted()).toEqual(PROVIDER_NAMES.toSorted());
});
