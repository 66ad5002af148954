import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { startVideoUpstream, type VideoUpstream } from '../../support/video-upstream.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: Json];

let app: TestApp;
let upstream: VideoUpstream;
let owner: string;

async function ask(method: string, path: string, body?: unknown, key = owner): Promise<Answer> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  return [answer.status, (await answer.json()) as Json];
}
const newKey = async (): Promise<string> => String((await ask('POST', '/key/generate', {}, app.adminKey))[1]['key']);
const create = (body: unknown, key?: string) => ask('POST', '/v1/videos', body, key);

beforeAll(async () => {
  upstream = await startVideoUpstream();
  const params = { model: 'openai/sora-2-pro', api_base: `${upstream.url}/v1`, api_key: 'sk-video-account' };
  app = await startApp({ config: { model_list: [{ model_name: 'film', litellm_params: params }] } });
  owner = await newKey();
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

describe('a reference', () => {
  it('videos.create 200: a file of the caller, sent with its id at the upstream; videos.create 404: other files', async () => {
    const form = new FormData();
    form.append('purpose', 'user_data');
    form.append('model', 'film');
    form.append('file', new Blob(['x']), 'a.png');
    const [, file] = await ask('POST', '/v1/files', form);
    const referring = (id: string, key?: string) =>
      create({ model: 'film', prompt: 'p', input_reference: { file_id: id } }, key);
    expect((await referring(String(file['id'])))[0]).toBe(200);
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toMatchObject({
      input_reference: { file_id: 'file-up1' },
    });
    const before = upstream.received.length;
    const noFile = (id: string): Answer => [
      404,
      { error: { message: `No such File object: ${id}`, type: 'not_found_error', param: null, code: '404' } },
    ];
    const stranger = await newKey();
    expect(await referring(String(file['id']), stranger)).toEqual(noFile(String(file['id'])));
    expect(await referring('file-up1')).toEqual(noFile('file-up1'));
    const twice = '{"model":"film","prompt":"p","input_reference":{"file_id":"file-up1"},"input_reference":"x"}';
    const answer = await fetch(`${app.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
      body: twice,
    });
    expect([answer.status, upstream.received.length]).toEqual([200, before + 1]);
    expect(upstream.received.at(-1)?.body).not.toContain('file-up1');
    const nested = new FormData();
    for (const [name, value] of Object.entries({ prompt: 'p', model: 'film', 'input_reference[file_id]': 'file-up1' }))
      nested.append(name, value);
    const message = "/videos: Invalid value for parameter 'input_reference': in a form it must be a file.";
    expect(await create(nested)).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: 'input_reference', code: '400' } },
    ]);
  });
});

describe('a client that disconnects', () => {
  it.each(['no answer', 'half'])('is charged for a job that the upstream may have started: %s', async (prompt) => {
    const key = await newKey();
    const before = upstream.received.length;
    const client = new AbortController();
    const answered = fetch(`${app.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'film', prompt, seconds: '8' }),
      signal: client.signal,
    }).catch(() => null);
    await expect.poll(() => upstream.received.length, POLLING).toBe(before + 1);
    client.abort();
    await answered;
    const spendOf = async () =>
      ((await ask('GET', `/key/info?key=${key}`, undefined, app.adminKey))[1]['info'] as Json)['spend'];
    await expect.poll(spendOf, POLLING).toBe(2.4);
  });
});
