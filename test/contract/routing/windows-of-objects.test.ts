import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, formOf, lineFor, newKey, refusal, send, serveFiles } from '../files/file-client.ts';

/** Windows that are open at each time of the day. */
const access_windows = [
  { start: '00:00', end: '12:00', team_ids: ['red'] },
  { start: '12:00', end: '00:00', team_ids: ['red'] },
];
const REFUSED = refusal(
  400,
  expect.stringMatching(/^Deployment reserved is reserved for another team until (12|00):00 UTC$/) as string,
);

let app: TestApp;
let upstream: FaultServer;
let red: string;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'k', use_chat_completions_api: false };
  app = await startApp({
    config: {
      general_settings: { proxy_batch_polling_interval: 0 },
      model_list: [
        { model_name: 'reserved', litellm_params: { model: 'openai/up', ...params }, model_info: { access_windows } },
      ],
    },
  });
  await app.call('POST', '/team/new', { team_id: 'red' });
  red = await newKey(app, { team_id: 'red' });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const json = (value: unknown) => ({
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
});

describe('a deployment that is reserved for another team', () => {
  it('responses: is not called for a stored response, which can still be deleted', async () => {
    const answer = { id: 'resp_up', object: 'response', status: 'completed', model: 'up', output: [] };
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    const ask = (key: string, members: object = {}) =>
      send(app, 'POST', '/v1/responses', { key, ...json({ model: 'reserved', input: 'x', ...members }) });
    const [status, first] = await answerOf(await ask(red));
    expect(status).toBe(200);
    const { id } = first as { readonly id: string };
    const sentBefore = upstream.received.length;
    expect(await answerOf(await ask(app.adminKey, { previous_response_id: id }))).toEqual(REFUSED);
    expect(await answerOf(await send(app, 'GET', `/v1/responses/${id}`))).toEqual(REFUSED);
    expect(await answerOf(await send(app, 'GET', `/v1/responses/${id}/input_items`))).toEqual(REFUSED);
    expect(upstream.received.length).toBe(sentBefore);
    expect((await ask(red, { previous_response_id: id })).status).toBe(200);
    expect((await send(app, 'GET', `/v1/responses/${id}`, { key: red })).status).toBe(200);
    expect((await send(app, 'DELETE', `/v1/responses/${id}`)).status).toBe(200);
  });

  it('files and batches: gets no new ones, and the existing ones can be read', async () => {
    serveFiles(upstream);
    const uploadAs = (key: string, fields: Record<string, string> = { purpose: 'batch' }) =>
      send(app, 'POST', '/v1/files', { key, body: formOf(fields, lineFor('reserved')) });
    expect(await answerOf(await uploadAs(app.adminKey))).toEqual(REFUSED);
    expect(await answerOf(await uploadAs(app.adminKey, { purpose: 'user_data' }))).toEqual(REFUSED);
    const [status, file] = await answerOf(await uploadAs(red));
    expect(status).toBe(200);
    const { id: fileId } = file as { readonly id: string };
    const start = (key: string) =>
      send(app, 'POST', '/v1/batches', {
        key,
        ...json({ input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' }),
      });
    expect(await answerOf(await start(app.adminKey))).toEqual(REFUSED);
    const [started, batch] = await answerOf(await start(red));
    expect(started).toBe(200);
    const { id: batchId } = batch as { readonly id: string };
    expect((await send(app, 'GET', `/v1/batches/${batchId}`)).status).toBe(200);
    expect((await send(app, 'GET', `/v1/files/${fileId}/content`)).status).toBe(200);
    expect((await send(app, 'POST', `/v1/batches/${batchId}/cancel`)).status).toBe(200);
  });

  it('videos: gets no new ones', async () => {
    const video = { model: 'reserved', prompt: 'p' };
    expect(await answerOf(await send(app, 'POST', '/v1/videos', json(video)))).toEqual(REFUSED);
  });
});
