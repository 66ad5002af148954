import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { openUndiciClient } from '../../src/runtime/http-client/undici-transport.ts';
import { httpClientSuite, type OpenClient } from './http-client-suite.ts';
import { httpHostileSuite } from './http-hostile-suite.ts';
import { httpLimitsSuite } from './http-limits-suite.ts';

const native: OpenClient = async (options) => createHttpClient(options);

for (const suite of [httpClientSuite, httpHostileSuite, httpLimitsSuite]) {
  suite('the native client', native);
  suite('the undici client', openUndiciClient);
}
