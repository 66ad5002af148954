import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { openRealtime } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { formOf, send, serveFiles } from '../files/file-client.ts';

const access_windows = [
  { start: '00:00', end: '12:00', team_ids: ['red'] },
  { start: '12:00', end: '00:00', team_ids: ['red'] },
];

let upstream: FaultServer;
let realtime: RealtimeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = await startFaultServer();
  realtime = await startRealtimeUpstream();
  serveFiles(upstream);
  const entry = (model_name: string, id: string, params: object = {}, info: object = {}) => ({
    model_name,
    litellm_params: { model: `openai/${id}`, api_base: `${upstream.url}/v1`, api_key: `sk-${id}`, ...params },
    model_info: { id, ...info },
  });
  const voice = { api_base: `${realtime.url}/v1` };
  const claude = { model: 'anthropic/up', api_base: upstream.url };
  app = await startApp({
    config: {
      model_list: [
        entry('reserved', 'r', {}, { access_windows }),
        entry('m', 'weighted', { weight: 1 }),
        entry('m', 'unweighted'),
        entry('tagged', 'free', { tags: ['free'] }, { enable_tag_filtering: true }),
        entry('tagged', 'paid', { tags: ['paid'] }, { enable_tag_filtering: true }),
        entry('claude', 'tagged', { ...claude, tags: ['free'] }, { enable_tag_filtering: true }),
        entry('claude', 'other', { ...claude, tags: ['paid'] }, { enable_tag_filtering: true }),
        entry('reserved-claude', 'rc', claude, { access_windows }),
        entry('voice', 'v1', { ...voice, weight: 1 }),
        entry('voice', 'v2', voice),
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await realtime.stop();
});

it('realtime sessions are opened at the deployment that the strategy selects', async () => {
  const paths = new Set<string>();
  for (let session = 0; session < 4; session += 1) {
    const client = await openRealtime(app);
    paths.add((await realtime.session()).path);
    client.socket.close(1000);
  }
  expect([...paths]).toEqual(['/v1/realtime?model=v1']);
});

/** Ids of the deployments of the last requests, by their credentials. */
const accounts = (count: number): readonly string[] => [
  ...new Set(
    upstream.received
      .slice(-count)
      .map(({ headers }) => String(headers['x-api-key'] ?? headers.authorization).replace(/^(Bearer )?sk-/, '')),
  ),
];

describe('files', () => {
  const upload = (fields: Record<string, string>): Promise<Response> =>
    send(app, 'POST', '/v1/files', { body: formOf({ purpose: 'user_data', ...fields }) });

  it('are stored at the deployment that the strategy selects', async () => {
    for (let file = 0; file < 4; file += 1) expect((await upload({ model: 'm' })).status).toBe(200);
    expect(accounts(4)).toEqual(['weighted']);
  });

  it('are stored at the deployment that the tags of the request select', async () => {
    const body = formOf({ purpose: 'user_data', model: 'tagged' });
    const headers = { 'x-litellm-tags': 'paid' };
    for (let file = 0; file < 4; file += 1)
      expect((await send(app, 'POST', '/v1/files', { body, headers })).status).toBe(200);
    expect(accounts(4)).toEqual(['paid']);
  });

  it('are not stored at a deployment that is reserved for another team', async () => {
    const refused = await upload({ model: 'reserved' });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('is reserved for another team'),
    ]);
    expect((await upload({})).status).toBe(200);
    expect(accounts(1)).toEqual(['weighted']);
  });
});

describe('token counts', () => {
  const count = async (model: string, headers: Record<string, string> = {}): Promise<number> => {
    const body = { model, messages: [{ role: 'user', content: 'x' }] };
    return (await app.call('POST', '/v1/messages/count_tokens', body, headers)).status;
  };

  it('are asked of the deployment that the tags of the key select', async () => {
    const response = await app.call('POST', '/key/generate', { metadata: { tags: ['paid'] } });
    const { key } = (await response.json()) as { key: string };
    const before = upstream.received.length;
    for (let call = 0; call < 3; call += 1) expect(await count('claude', { authorization: `Bearer ${key}` })).toBe(200);
    expect(upstream.received.length).toBe(before + 3);
    expect(accounts(3)).toEqual(['other']);
  });

  it('are not asked of a deployment that is reserved for another team', async () => {
    const before = upstream.received.length;
    expect(await count('reserved-claude')).toBe(400);
    expect(upstream.received.length).toBe(before);
  });
});
