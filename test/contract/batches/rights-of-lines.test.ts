import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  answerOf,
  configOver,
  formOf,
  lineFor,
  newKey,
  refusal,
  send,
  serveFiles,
  upload,
} from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const config = configOver(upstream, { proxy_batch_polling_interval: 0, store_model_in_db: true });
  app = await startApp({ config });
});
beforeEach(() => serveFiles(upstream));
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const TEAM = { team_id: 'lines' };

const uploadLines = async (key: string, ...lines: readonly string[]): Promise<string> =>
  (await upload(app, { purpose: 'batch' }, { key, content: lines.join('\n') })).id;

const start = (fileId: string, key: string, headers: Record<string, string> = {}) =>
  send(app, 'POST', '/v1/batches', {
    key,
    headers,
    body: JSON.stringify({ input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  });

const notAvailable = (model: string, type: string) =>
  refusal(
    403,
    `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
    { type, param: 'model' },
  );

describe('batches.create: the lines of a file that another key of the owner uploaded', () => {
  it('403: a line names a model that the starting key may not call', async () => {
    const id = await uploadLines(await newKey(app, TEAM), lineFor('assistant'), lineFor('second'));
    const key = await newKey(app, { ...TEAM, models: ['assistant'] });
    const requestsBefore = upstream.received.length;
    expect(await answerOf(await start(id, key))).toEqual(notAvailable('second', 'key_model_access_denied'));
    expect(upstream.received.length).toBe(requestsBefore);
    const allowed = await newKey(app, { ...TEAM, models: ['assistant', 'second'] });
    expect((await start(id, allowed)).status).toBe(200);
  });

  it('403: a line names a model that the team may not call any more', async () => {
    const team = { team_id: 'reduced' };
    expect((await app.call('POST', '/team/new', team)).status).toBe(200);
    const id = await uploadLines(await newKey(app, team), lineFor('second'));
    const key = await newKey(app, team);
    expect((await start(id, key)).status).toBe(200);
    expect((await app.call('POST', '/team/update', { ...team, models: ['assistant'] })).status).toBe(200);
    expect(await answerOf(await start(id, key))).toEqual(notAvailable('second', 'team_model_access_denied'));
  });

  it('200: the master key starts a file whose model only a team can name', async () => {
    const team = { team_id: 'owning' };
    expect((await app.call('POST', '/team/new', team)).status).toBe(200);
    const model = {
      model_name: 'own',
      litellm_params: { model: 'openai/up-9', api_base: `${upstream.url}/v1`, api_key: 'k' },
      model_info: team,
    };
    expect((await app.call('POST', '/model/new', model)).status).toBe(200);
    const id = await uploadLines(await newKey(app, team), lineFor('own'));
    expect((await start(id, app.adminKey)).status).toBe(200);
  });

  it('403: the models of the key that uploaded the file were reduced', async () => {
    const key = await newKey(app, {});
    const id = await uploadLines(key, lineFor('second'));
    expect((await start(id, key)).status).toBe(200);
    expect((await app.call('POST', '/key/update', { key, models: ['assistant'] })).status).toBe(200);
    expect(await answerOf(await start(id, key))).toEqual(notAvailable('second', 'key_model_access_denied'));
  });

  it('403: a line names a vector store that the starting key may not use', async () => {
    const tools = (id: string) => ({ tools: [{ type: 'file_search', vector_store_ids: [id] }] });
    const uploader = await newKey(app, TEAM);
    const id = await uploadLines(uploader, lineFor('assistant', tools('vs_a')), lineFor('assistant', tools('vs_b')));
    const key = await newKey(app, { ...TEAM, object_permission: { vector_stores: ['vs_a'] } });
    const message = 'The key is not allowed to access the vector store vs_b.';
    expect(await answerOf(await start(id, key))).toEqual(
      refusal(403, message, { type: 'key_vector_store_access_denied' }),
    );
    const allowed = await newKey(app, { ...TEAM, object_permission: { vector_stores: ['vs_a', 'vs_b'] } });
    expect((await start(id, allowed)).status).toBe(200);
  });

  it('403: a line names a vector store that the customer of the starting request may not use', async () => {
    const rights = { user_id: 'shopper', object_permission: { vector_stores: ['vs_c'] } };
    expect((await app.call('POST', '/customer/new', rights)).status).toBe(200);
    const key = await newKey(app, TEAM);
    const id = await uploadLines(
      key,
      lineFor('assistant', { tools: [{ type: 'file_search', vector_store_ids: ['vs_a'] }] }),
    );
    const customer = { 'x-litellm-customer-id': 'shopper' };
    expect((await start(id, key, customer)).status).toBe(403);
    expect((await start(id, key)).status).toBe(200);
    // The upload itself has the same check.
    const form = formOf(
      { purpose: 'batch' },
      lineFor('assistant', { tools: [{ type: 'file_search', vector_store_ids: ['vs_a'] }] }),
    );
    expect((await send(app, 'POST', '/v1/files', { key, headers: customer, body: form })).status).toBe(403);
  });
});

it('files.create 400: lines that name more vector stores than can be stored', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `vs_${'x'.repeat(100)}${index}`);
  const line = lineFor('assistant', { tools: [{ type: 'file_search', vector_store_ids: names }] });
  const message = '/files: The vector stores that the lines name have more than 65536 characters.';
  const body = formOf({ purpose: 'batch' }, line);
  expect(await answerOf(await send(app, 'POST', '/v1/files', { body }))).toEqual(
    refusal(400, message, { param: 'file' }),
  );
});

it('files.create 400 and batches.create 400: a line names an index of a vector store', async () => {
  const lineWith = (id: string) => lineFor('assistant', { tools: [{ type: 'file_search', vector_store_ids: [id] }] });
  const earlier = await uploadLines(app.adminKey, lineWith('manual'));
  const store = { vector_store_id: 'vs_manual', vector_store_name: 'manuals', custom_llm_provider: 'openai' };
  expect((await app.call('POST', '/vector_store/new', store)).status).toBe(200);
  const params = { vector_store_index: 'vs_index', vector_store_name: 'manuals' };
  const made = await app.call('POST', '/v1/indexes', { index_name: 'manual', litellm_params: params });
  expect(made.status).toBe(200);
  const message = "The lines of a batch cannot name the index 'manual': name its vector store by its id.";
  const sent = await send(app, 'POST', '/v1/files', { body: formOf({ purpose: 'batch' }, lineWith('manual')) });
  expect(await answerOf(sent)).toEqual(refusal(400, message, { param: 'file' }));
  expect(await answerOf(await start(earlier, app.adminKey))).toEqual(refusal(400, message, { param: 'input_file_id' }));
  const byId = formOf({ purpose: 'batch' }, lineWith('vs_index'));
  expect((await send(app, 'POST', '/v1/files', { body: byId })).status).toBe(200);
});

it('files.create 400: lines that name more containers than can be checked', async () => {
  const lineWith = (container: string) => lineFor('assistant', { tools: [{ type: 'code_interpreter', container }] });
  const lines = Array.from({ length: 257 }, (_, index) => lineWith(`cntr_${index}`));
  const before = upstream.received.length;
  const sent = await send(app, 'POST', '/v1/files', { body: formOf({ purpose: 'batch' }, lines.join('\n')) });
  const message = '/files: The lines must name at most 256 containers.';
  expect(await answerOf(sent)).toEqual(refusal(400, message, { param: 'file' }));
  expect(upstream.received.length).toBe(before);
});

it('files.create 400: a line that an upstream may split at a carriage return', async () => {
  const hidden = lineFor('second');
  const line = lineFor('assistant').replace('"method"', `"x":\r${hidden}\r,"method"`);
  const key = await newKey(app, { models: ['assistant'] });
  const before = upstream.received.length;
  const sent = await send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'batch' }, `${line}\r\n`) });
  const message = '/files: Line 1 of the file has a carriage return before its end.';
  expect(await answerOf(sent)).toEqual(refusal(400, message, { param: 'file' }));
  expect(upstream.received.length).toBe(before);
  const ended = formOf({ purpose: 'batch' }, `${lineFor('assistant')}\r\n`);
  expect((await send(app, 'POST', '/v1/files', { key, body: ended })).status).toBe(200);
});
