import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type Answer, type Json, type ObjectServer, startObjectServer } from './object-server.ts';

let server: ObjectServer;
const ask = (method: string, path: string, body?: unknown, key?: string | null): Promise<Answer> =>
  server.ask(method, path, body, key);

beforeAll(async () => {
  server = await startObjectServer();
});
afterAll(() => server.stop());

const newContainer = async (): Promise<string> => String((await ask('POST', '/v1/containers', { name: 'c' }))[1]['id']);

function aForm(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['abc']), 'a.txt');
  return form;
}

describe('containers.create', () => {
  it('403: by a file of a model that the key may not call any more; 200 by another model of its account', async () => {
    const key = await server.newKey({ models: ['tiny', 'elsewhere', 'judge'] });
    const file = await server.newFile(key);
    const restrict = (models: readonly string[]) => ask('POST', '/key/update', { key, models }, server.app.adminKey);
    expect((await restrict(['elsewhere']))[0]).toBe(200);
    const before = server.upstream.received.length;
    expect((await ask('POST', '/v1/containers', { name: 'c', file_ids: [file] }, key))[1]).toEqual({
      error: expect.objectContaining({ type: 'key_model_access_denied', code: '403', param: 'model' }) as Json,
    });
    expect(server.upstream.received.length).toBe(before);
    expect((await restrict(['judge']))[0]).toBe(200);
    expect((await ask('POST', '/v1/containers', { name: 'c', file_ids: [file] }, key))[0]).toBe(200);
  });
});

describe('containerFiles.create: customer and tags of the request', () => {
  const addFile = (id: string, headers: Record<string, string>, body: FormData | string) =>
    fetch(`${server.app.url}/v1/containers/${id}/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.owner}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      body,
    });

  it('are in the spend row, from headers and from JSON', async () => {
    const id = await newContainer();
    const headers = { 'x-litellm-customer-id': 'shopper', 'x-litellm-tags': 'red' };
    expect((await addFile(id, headers, aForm())).status).toBe(200);
    const file = await server.newFile();
    expect((await addFile(id, {}, JSON.stringify({ file_id: file, tags: ['blue'] }))).status).toBe(200);
    expect(server.upstream.received.at(-1)?.body).not.toContain('blue');
    const rows = async () =>
      (
        (
          await ask('GET', `/spend/logs?api_key=${server.owner}&summarize=false`, undefined, server.app.adminKey)
        )[1] as unknown as readonly Json[]
      )
        .filter((row) => row['call_type'] === 'aupload_container_file')
        .map((row) => [row['end_user'], row['request_tags']]);
    await expect.poll(rows, POLLING).toEqual(
      expect.arrayContaining([
        ['shopper', expect.arrayContaining(['red'])],
        ['', expect.arrayContaining(['blue'])],
      ]),
    );
  });

  it('403: a blocked customer', async () => {
    const id = await newContainer();
    expect((await ask('POST', '/customer/new', { user_id: 'bad', blocked: true }, server.app.adminKey))[0]).toBe(200);
    const before = server.upstream.received.length;
    expect((await addFile(id, { 'x-litellm-customer-id': 'bad' }, aForm())).status).toBe(403);
    expect(server.upstream.received.length).toBe(before);
  });
});
