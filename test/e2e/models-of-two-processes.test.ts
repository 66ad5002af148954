import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const SOON = { timeout: 60_000, interval: 100 };

describe.skipIf(LACKS_POSTGRESQL)('a stored model of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    two = await startTwoApps('sk-the-admin-of-two-processes-2', { env: { STORE_MODEL_IN_DB: 'True' }, config: {} });
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  const statusAt = async (app: TestApp, model: string): Promise<number> =>
    (await app.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })).status;
  const createModel = (id: string) =>
    here.call('POST', '/model/new', { model_name: id, litellm_params: { model: 'demo' }, model_info: { id } });

  it('is callable in the other process as soon as it is created', async () => {
    expect((await createModel('fresh')).status).toBe(200);
    expect([await statusAt(here, 'fresh'), await statusAt(there, 'fresh')]).toEqual([200, 200]);
  });

  it('is refused in the other process soon after it was blocked, and after it was deleted', async () => {
    await createModel('dying');
    await vi.waitFor(async () => expect(await statusAt(there, 'dying')).toBe(200), SOON);
    await here.call('POST', '/model/block', { model_id: 'dying' });
    expect(await statusAt(here, 'dying')).toBe(403);
    await vi.waitFor(async () => expect(await statusAt(there, 'dying')).toBe(403), SOON);
    await here.call('POST', '/model/delete', { id: 'dying' });
    expect(await statusAt(here, 'dying')).toBe(400);
    await vi.waitFor(async () => expect(await statusAt(there, 'dying')).toBe(400), SOON);
  });

  it('is callable in the other process by keys of its team only, until the team is deleted', async () => {
    const keyOfNewTeam = async (teamId: string): Promise<string> => {
      await here.call('POST', '/team/new', { team_id: teamId });
      const made = await here.call('POST', '/key/generate', { team_id: teamId });
      return String(((await made.json()) as { readonly key: unknown }).key);
    };
    const [red, blue] = [await keyOfNewTeam('red'), await keyOfNewTeam('blue')];
    const model_info = { id: 'of-red', team_id: 'red' };
    await here.call('POST', '/model/new', { model_name: 'reds', litellm_params: { model: 'demo' }, model_info });
    const chatBody = { model: 'reds', messages: [{ role: 'user', content: 'hi' }] };
    const statusBy = async (key: string) =>
      (await there.call('POST', '/v1/chat/completions', chatBody, { authorization: `Bearer ${key}` })).status;
    await vi.waitFor(async () => expect(await statusBy(red)).toBe(200), SOON);
    expect(await statusBy(blue)).toBe(400);
    await here.call('POST', '/team/delete', { team_ids: ['red'] });
    await vi.waitFor(async () => expect(await statusBy(red)).toBe(401), SOON);
    // A later team with the same id does not get the model.
    const later = await keyOfNewTeam('red');
    await vi.waitFor(async () => expect(await statusBy(later)).toBe(400), SOON);
  });

  it('fails over in the other process soon after a fallback was stored, until it is deleted', async () => {
    const away = { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };
    await createModel('spare');
    await here.call('POST', '/model/new', { model_name: 'away', litellm_params: away });
    expect(await statusAt(here, 'away')).toBe(500);
    await vi.waitFor(async () => expect(await statusAt(there, 'away')).toBe(500), SOON);
    await here.call('POST', '/fallback', { model: 'away', fallback_models: ['spare'] });
    expect(await statusAt(here, 'away')).toBe(200);
    await vi.waitFor(async () => expect(await statusAt(there, 'away')).toBe(200), SOON);
    await there.call('DELETE', '/fallback/away');
    expect(await statusAt(there, 'away')).toBe(500);
    await vi.waitFor(async () => expect(await statusAt(here, 'away')).toBe(500), SOON);
  });

  it('follows access groups for keys in the other process', async () => {
    await createModel('grouped');
    const made = await here.call('POST', '/key/generate', { models: ['beta'] });
    const { key } = (await made.json()) as { key: string };
    const statusOf = async (app: TestApp): Promise<number> => {
      const body = { model: 'grouped', messages: [{ role: 'user', content: 'hi' }] };
      return (await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` })).status;
    };
    expect([await statusOf(here), await statusOf(there)]).toEqual([403, 403]);
    await here.call('POST', '/access_group/new', { access_group: 'beta', model_names: ['grouped'] });
    expect(await statusOf(here)).toBe(200);
    await vi.waitFor(async () => expect(await statusOf(there)).toBe(200), SOON);
  });
});
