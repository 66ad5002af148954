import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { startVideoUpstream, type VideoUpstream } from '../../support/video-upstream.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: Json];

let app: TestApp;
let upstream: VideoUpstream;
/** Keys: of the owner of videos, of another owner, and of a read-only user. */
let owner: string;
let stranger: string;
let viewer: string;

async function ask(method: string, path: string, body?: unknown, key: string | null = owner): Promise<Answer> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  return [answer.status, (await answer.json()) as Json];
}
const newKey = async (settings: Json = {}): Promise<string> =>
  String((await ask('POST', '/key/generate', settings, app.adminKey))[1]['key']);

beforeAll(async () => {
  upstream = await startVideoUpstream();
  const model = (name: string, upstreamModel: string, more: Json = {}) => ({
    model_name: name,
    litellm_params: { model: upstreamModel, api_base: `${upstream.url}/v1`, api_key: 'sk-video-account', ...more },
  });
  app = await startApp({
    config: {
      model_list: [
        model('film', 'openai/sora-2-pro'),
        model('sora-2', 'openai/sora-2'),
        model('own', 'openai/mine', { output_cost_per_second: 0.25 }),
        model('claude', 'anthropic/claude-x'),
      ],
      guardrails: [
        {
          guardrail_name: 'words',
          litellm_params: {
            guardrail: 'litellm_content_filter',
            mode: 'pre_call',
            blocked_words: [{ keyword: 'forbidden', action: 'BLOCK' }],
            patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
          },
        },
      ],
    },
  });
  owner = await newKey();
  stranger = await newKey();
  const [, created] = await ask('POST', '/user/new', { user_id: 'v', user_role: 'internal_user_viewer' }, app.adminKey);
  viewer = String(created['key']);
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const create = (body: unknown, key?: string | null) => ask('POST', '/v1/videos', body, key);
const newVideo = async (key = owner): Promise<string> =>
  String((await create({ model: 'film', prompt: 'p' }, key))[1]['id']);
const ID = expect.stringMatching(/^video_[0-9a-f]{32}$/) as string;
/** A video in an answer. */
const shown = (more: Json = {}): Json => ({
  id: ID,
  object: 'video',
  model: 'sora-2-pro',
  status: 'queued',
  progress: 0,
  seconds: '4',
  size: '720x1280',
  prompt: 'p',
  ...more,
});
const NO_KEY = { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json };
const notFound = (id: string): Answer => [
  404,
  {
    error: { message: `Video with id '${id}' not found.`, type: 'not_found_error', param: null, code: '404' },
  },
];
const readOnlyRefused: Answer = [403, { error: expect.objectContaining({ code: '403' }) as Json }];

describe('videos.create', () => {
  it('200: a job at the upstream of the model, with an id of the gateway', async () => {
    expect(
      await create({ model: 'film', prompt: 'p', seconds: '8', custom_llm_provider: 'openai', tags: ['t'] }),
    ).toEqual([200, shown({ seconds: '8' })]);
    const sent = upstream.received.at(-1);
    expect(JSON.parse(sent?.body ?? '')).toEqual({ model: 'sora-2-pro', prompt: 'p', seconds: '8' });
    expect([sent?.path, sent?.authorization]).toEqual(['/v1/videos', 'Bearer sk-video-account']);
  });

  it('200: a form with a picture, and the default model on the unversioned path', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ prompt: 'p', model: 'film', seconds: '12' })) form.append(name, value);
    form.append('input_reference', new Blob([new Uint8Array([1, 2, 255])], { type: 'image/png' }), 'a.png');
    expect(await create(form)).toEqual([200, shown({ seconds: '12' })]);
    const body = upstream.received.at(-1)?.body ?? '';
    expect(body).toContain('name="model"\r\n\r\nsora-2-pro\r\n');
    expect(body).toContain('filename="a.png"');
    expect(body).toContain('\u0001\u0002\u00ff');
    const bare = new FormData();
    bare.append('prompt', 'p');
    expect(await ask('POST', '/videos', bare)).toEqual([200, shown({ model: 'sora-2' })]);
    expect(upstream.received.at(-1)?.body).toContain('name="model"\r\n\r\nsora-2\r\n');
    expect(await ask('POST', '/videos', { prompt: 'p' })).toEqual([200, shown({ model: 'sora-2' })]);
  });

  it('400: no prompt, a prompt of another type, an unknown model, a provider without videos, no JSON', async () => {
    const invalid = (message: string, param: string | null): Answer => [
      400,
      { error: { message, type: 'invalid_request_error', param, code: '400' } },
    ];
    expect(await create({ model: 'film' })).toEqual(
      invalid("/videos: Missing required parameter: 'prompt'.", 'prompt'),
    );
    expect(await create({ model: 'film', prompt: 3 })).toEqual(
      invalid("/videos: Invalid type for parameter 'prompt': it must be a string.", 'prompt'),
    );
    expect((await create({ model: 'nope', prompt: 'p' }))[0]).toBe(400);
    expect((await create({ model: 'claude', prompt: 'p' }))[1]).toMatchObject({
      error: { message: '/videos: The provider of the model claude does not store videos.' },
    });
    expect((await create([]))[0]).toBe(400);
    expect((await create({ model: 'film', prompt: 'status:400' }))[0]).toBe(400);
  });

  it('400: a prompt that a guardrail blocks; a prompt that it masks is sent masked', async () => {
    const guarded = await newKey({ guardrails: ['words'] });
    const before = upstream.received.length;
    expect((await create({ model: 'film', prompt: 'forbidden fruit' }, guarded))[0]).toBe(400);
    const source = await newVideo(guarded);
    const remix = { prompt: 'forbidden fruit' };
    expect((await ask('POST', `/v1/videos/${source}/remix`, remix, guarded))[0]).toBe(400);
    expect(upstream.received.length).toBe(before + 1);
    expect((await create({ model: 'film', prompt: 'of a@b.test' }, guarded))[0]).toBe(200);
    expect(upstream.received.at(-1)?.body).toBe('{"model":"sora-2-pro","prompt":"of [EMAIL_REDACTED]"}');
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'film', prompt: 'of a@b.test' })) form.append(name, value);
    expect((await create(form, guarded))[0]).toBe(200);
    expect(upstream.received.at(-1)?.body).toContain('name="prompt"\r\n\r\nof [EMAIL_REDACTED]\r\n');
    const twice = await fetch(`${app.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${guarded}`, 'content-type': 'application/json' },
      body: '{"model":"film","prompt":"forbidden","prompt":"p"}',
    });
    expect(twice.status).toBe(400);
  });

  it('401: no key', async () => {
    expect(await create({ prompt: 'p' }, null)).toEqual([401, NO_KEY]);
  });

  it('403: a model that the key may not call, and read-only keys', async () => {
    const limited = await newKey({ models: ['own'] });
    const before = upstream.received.length;
    expect((await create({ model: 'film', prompt: 'p' }, limited))[0]).toBe(403);
    expect(await create({ model: 'film', prompt: 'p' }, viewer)).toEqual(readOnlyRefused);
    expect(upstream.received.length).toBe(before);
  });

  it('422: a budget that the length of the video exceeds', async () => {
    const poor = await newKey({ max_budget: 1 });
    const before = upstream.received.length;
    // 4 seconds of sora-2-pro cost 1.2 USD.
    const first = await create({ model: 'film', prompt: 'p' }, poor);
    const second = await create({ model: 'film', prompt: 'p' }, poor);
    expect([first[0], second[0]]).toContain(422);
    expect(upstream.received.length - before).toBeLessThan(2);
  });

  it('429: the limit of the key', async () => {
    const slow = await newKey({ rpm_limit: 1 });
    expect((await create({ model: 'film', prompt: 'p' }, slow))[0]).toBe(200);
    expect((await create({ model: 'film', prompt: 'p' }, slow))[0]).toBe(429);
  });

  it('500: an error of the upstream', async () => {
    expect((await create({ model: 'film', prompt: 'status:500' }))[0]).toBe(500);
  });
});

describe('the cost of a video', () => {
  it.each([
    [{ model: 'film', prompt: 'p', seconds: '8' }, 2.4],
    [{ model: 'sora-2', prompt: 'p' }, 0.4],
    [{ model: 'own', prompt: 'p', seconds: 4 }, 1],
    [{ model: 'film', prompt: 'failed' }, 0],
    [{ model: 'film', prompt: 'status:500' }, 0],
  ])('is charged once, when the job starts, by its seconds: %j', async (body, cost) => {
    const key = await newKey();
    const [, { id }] = await create(body, key);
    if (typeof id === 'string') {
      await ask('GET', `/v1/videos/${id}`, undefined, key);
      await ask('GET', `/v1/videos/${id}`, undefined, key);
    }
    const spendOf = async () =>
      ((await ask('GET', `/key/info?key=${key}`, undefined, app.adminKey))[1]['info'] as Json)['spend'];
    const rows = async () =>
      (
        await ask('GET', `/spend/logs?api_key=${key}&summarize=false`, undefined, app.adminKey)
      )[1] as unknown as readonly Json[];
    await expect.poll(async () => (await rows()).length, POLLING).toBe(typeof id === 'string' ? 3 : 1);
    const started = (await rows()).filter((row) => row['call_type'] === 'acreate_video');
    expect(started.map((row) => row['spend'])).toEqual([cost]);
    await expect.poll(spendOf, POLLING).toBe(cost);
  });
});

const ROWS: readonly (readonly [name: string, method: string, end: string, body: Json | undefined])[] = [
  ['videos.get', 'GET', '', undefined],
  ['videos.content', 'GET', '/content', undefined],
  ['videos.remix', 'POST', '/remix', { prompt: 'q' }],
  ['videos.delete', 'DELETE', '', undefined],
];

describe('routes of one video', () => {
  it.each(ROWS)('%s 401: no key', async (_name, method, end, body) => {
    expect(await ask(method, `/v1/videos/x${end}`, body, null)).toEqual([401, NO_KEY]);
  });

  it.each(ROWS)('%s 404: an unknown video, a video of another key, and an id of the upstream', async (...row) => {
    const [, method, end, body] = row;
    const id = await newVideo();
    const before = upstream.received.length;
    for (const [named, key] of [
      ['video_nope', owner],
      [id, stranger],
      [upstream.ids()[0] ?? '', owner],
    ] as const)
      expect(await ask(method, `/v1/videos/${named}${end}`, body, key)).toEqual(notFound(named));
    expect(upstream.received.length).toBe(before);
    expect((await ask('GET', `/v1/videos/${id}`))[0]).toBe(200);
  });
});

describe('videos.get, videos.content and videos.delete', () => {
  it.each(ROWS.filter(([name]) => name !== 'videos.remix'))('%s 500: an error of the upstream', async (...row) => {
    const [, method, end] = row;
    const [, { id }] = await create({ model: 'film', prompt: 'broken' });
    expect(await ask(method, `/v1/videos/${String(id)}${end}`)).toEqual([
      500,
      { error: expect.objectContaining({ message: expect.stringContaining('broken') as string, code: '500' }) as Json },
    ]);
  });
});

describe('videos.get', () => {
  it('200: the state at the upstream, also for administrators', async () => {
    const id = await newVideo();
    const done = shown({ id, status: 'completed', progress: 100 });
    expect(await ask('GET', `/v1/videos/${id}`)).toEqual([200, done]);
    expect(await ask('GET', `/videos/${id}`, undefined, app.adminKey)).toEqual([200, done]);
  });
});

describe('videos.content', () => {
  it('200: the bytes, with the type of the upstream, and a variant', async () => {
    const id = await newVideo();
    const answer = await fetch(`${app.url}/v1/videos/${id}/content?variant=thumbnail`, {
      headers: { authorization: `Bearer ${owner}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 1, 2, 255]);
    expect(upstream.received.at(-1)?.search).toBe('?variant=thumbnail');
  });

  it('400: an unknown variant', async () => {
    expect((await ask('GET', `/v1/videos/${await newVideo()}/content?variant=a%26b`))[0]).toBe(400);
  });
});

describe('videos.remix', () => {
  it('200: a new video of the caller, with the id of its source at the gateway', async () => {
    const key = await newKey();
    const source = await newVideo(key);
    const [status, made] = await ask('POST', `/v1/videos/${source}/remix`, { prompt: 'q' }, key);
    const remixed = shown({ prompt: 'q', remixed_from_video_id: source });
    expect([status, made]).toEqual([200, remixed]);
    expect(upstream.received.at(-1)?.path).toMatch(/^\/v1\/videos\/video_up\d+\/remix$/);
    const done = { ...remixed, status: 'completed', progress: 100 };
    expect(await ask('GET', `/v1/videos/${String(made['id'])}`, undefined, key)).toEqual([200, done]);
    const spendOf = async () =>
      ((await ask('GET', `/key/info?key=${key}`, undefined, app.adminKey))[1]['info'] as Json)['spend'];
    await expect.poll(spendOf, POLLING).toBe(2.4);
  });

  it('400, 403, 422, 429 and 500 in the cases of videos.create', async () => {
    const id = await newVideo();
    const remix = (body: Json, key?: string) => ask('POST', `/v1/videos/${id}/remix`, body, key);
    expect((await remix({}))[0]).toBe(400);
    expect(await remix({ prompt: 'p' }, viewer)).toEqual(readOnlyRefused);
    expect((await remix({ prompt: 'status:500' }))[0]).toBe(500);
    const limited = { rpm_limit: 1, max_budget: 5 };
    const slow = await newKey(limited);
    const own = await newVideo(slow);
    expect((await ask('POST', `/v1/videos/${own}/remix`, { prompt: 'p' }, slow))[0]).toBe(429);
    const poor = await newKey({ max_budget: 1.3 });
    const first = await newVideo(poor);
    await expect
      .poll(async () => (await ask('POST', `/v1/videos/${first}/remix`, { prompt: 'p' }, poor))[0], POLLING)
      .toBe(422);
  });
});

describe('videos.delete', () => {
  it('200: deletes a video at its upstream; 404 for a deleted video; 403 for read-only keys', async () => {
    const id = await newVideo();
    expect(await ask('DELETE', `/v1/videos/${id}`, undefined, viewer)).toEqual(readOnlyRefused);
    expect(await ask('DELETE', `/v1/videos/${id}`)).toEqual([200, { id, object: 'video.deleted', deleted: true }]);
    expect(await ask('DELETE', `/v1/videos/${id}`)).toEqual(notFound(id));
  });
});

describe('videos.list', () => {
  it('200: the videos of the caller with their states, newest first', async () => {
    const key = await newKey();
    const ids = [await newVideo(key), await newVideo(key)];
    const done = ids.map((id) => shown({ id, status: 'completed', progress: 100 }));
    expect(await ask('GET', '/v1/videos?limit=1', undefined, key)).toEqual([
      200,
      { object: 'list', data: [done[1]], first_id: ids[1], last_id: ids[1], has_more: true },
    ]);
    const [, page] = await ask('GET', `/videos?after=${ids[1] ?? ''}`, undefined, key);
    expect(page['data']).toEqual([done[0]]);
    expect((await ask('GET', '/v1/videos', undefined, await newKey()))[1]['data']).toEqual([]);
  });

  it('400: a limit that is no number; 401: no key', async () => {
    expect((await ask('GET', '/v1/videos?limit=x'))[0]).toBe(400);
    expect(await ask('GET', '/v1/videos', undefined, null)).toEqual([401, NO_KEY]);
  });
});
