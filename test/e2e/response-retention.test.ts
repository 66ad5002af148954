import { expect, it, vi } from 'vitest';
import type { StoredResponse } from '../../src/domain/responses/stored-response.ts';
import { Secret } from '../../src/domain/secret.ts';
import { openStores } from '../../src/persistence/database/orm.ts';
import { createResponseQueue } from '../../src/runtime/responses/response-queue.ts';
import { startApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

const DAY_MS = 86_400_000;
const OLD = `resp_${'a'.repeat(32)}`;
const YOUNG = `resp_${'b'.repeat(32)}`;

const responseFrom = (days: number, id: string): StoredResponse => ({
  id,
  previousId: null,
  owner: { teamId: null, keyHash: 'k' },
  createdAt: new Date(Date.now() - days * DAY_MS),
  input: [],
  response: { id, object: 'response', output: [] },
});

it('a stored response is deleted after 30 days by default, and a younger response is not deleted', async () => {
  const { dataDir, adminKey, stop } = await startApp();
  await stop({ keepData: true });
  const log = { warn: () => {}, error: () => {} };
  const stores = await openStores({ databaseUrl: null, dataDir, log });
  const queue = createResponseQueue({ store: stores.responses, masterKey: new Secret(adminKey), storesNew: true, log });
  for (const response of [responseFrom(31, OLD), responseFrom(29, YOUNG)]) queue.enqueue(response);
  await queue.flush();
  await stores.close();

  const app = await startApp({ dataDir });
  const statusOf = async (id: string): Promise<number> => (await app.call('GET', `/v1/responses/${id}`)).status;
  await vi.waitFor(async () => expect(await statusOf(OLD)).toBe(404), POLLING);
  expect(await statusOf(YOUNG)).toBe(200);
  await app.stop();
});
