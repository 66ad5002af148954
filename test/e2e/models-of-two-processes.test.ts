import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');
const SOON = { timeout: 20_000, interval: 100 };

describe.skipIf(engine === undefined || engine.missing !== null)('a stored model of two processes', () => {
  let scratch: ScratchDatabase;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    if (engine === undefined) throw new Error('There is no such engine.');
    scratch = await engine.create();
    const env = {
      DATABASE_URL: String(scratch.options.databaseUrl),
      LITELLM_MASTER_KEY: 'sk-the-admin-of-two-processes-2',
      STORE_MODEL_IN_DB: 'True',
    };
    here = await startApp({ env });
    there = await startApp({ env });
  });
  afterAll(async () => {
    await here.stop();
    await there.stop();
    await scratch.remove();
  });

  const statusAt = async (app: TestApp, model: string): Promise<number> =>
    (await app.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })).status;
  const make = (id: string) =>
    here.call('POST', '/model/new', { model_name: id, litellm_params: { model: 'demo' }, model_info: { id } });

  it('is called in the other process at once when it is new', async () => {
    expect((await make('fresh')).status).toBe(200);
    expect([await statusAt(here, 'fresh'), await statusAt(there, 'fresh')]).toEqual([200, 200]);
  });

  it('is refused in the other process soon after it was blocked and deleted', async () => {
    await make('dying');
    await vi.waitFor(async () => expect(await statusAt(there, 'dying')).toBe(200), SOON);
    await here.call('POST', '/model/block', { model_id: 'dying' });
    expect(await statusAt(here, 'dying')).toBe(403);
    await vi.waitFor(async () => expect(await statusAt(there, 'dying')).toBe(403), SOON);
    await here.call('POST', '/model/delete', { id: 'dying' });
    expect(await statusAt(here, 'dying')).toBe(400);
    await vi.waitFor(async () => expect(await statusAt(there, 'dying')).toBe(400), SOON);
  });
});
