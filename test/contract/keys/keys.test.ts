import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENERATED_FORM, STORED_FORM } from '../../support/key-forms.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function call(method: string, path: string, body?: unknown, key?: string) {
  const response = await app.call(method, path, body, key === undefined ? {} : { authorization: `Bearer ${key}` });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const generate = (draft: unknown, key?: string) => call('POST', '/key/generate', draft, key);
const info = (query: string, key?: string) => call('GET', `/key/info${query}`, undefined, key);

async function newKey(draft: object = {}): Promise<string> {
  const { body } = await generate(draft);
  return String(body['key']);
}

const DRAFT = {
  key_alias: 'whole',
  models: ['demo'],
  max_budget: 0.1,
  user_id: 'u1',
  team_id: 't1',
  metadata: { a: [1] },
};
const ROW = {
  ...DRAFT,
  created_at: expect.stringMatching(TIME),
  updated_at: expect.stringMatching(TIME),
  created_by: 'default_user_id',
  updated_by: 'default_user_id',
};

describe('keys.generate', () => {
  it('keys.generate 200: the answer has the secret, and a later read has the row without it', async () => {
    const { status, body } = await generate(DRAFT);
    const key = String(body['key']);
    expect(key).toMatch(/^sk-[\w-]{32}$/);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...GENERATED_FORM,
        ...ROW,
        key,
        key_name: `sk-...${key.slice(-4)}`,
        token: sha256(key),
        token_id: sha256(key),
      },
    });
    expect(await info('', key)).toEqual({
      status: 200,
      body: {
        key: sha256(key),
        info: { ...STORED_FORM, ...ROW, key_name: `sk-...${key.slice(-4)}`, status: 'active' },
      },
    });
  });

  it('keys.generate 200: a chosen secret and role; the key can be used immediately', async () => {
    const key = 'sk-my-very-own-key-0123456789';
    // The gateway caches that the key is unknown. The creation of the key must end this.
    expect((await info('', key)).status).toBe(401);
    const { body } = await generate({ key, user_role: 'proxy_admin', duration: '30d' });
    expect(body).toMatchObject({ key, user_role: 'proxy_admin', expires: expect.stringMatching(TIME) });
    expect((await generate({}, key)).status).toBe(200);
  });

  it.each([
    ['30s', 30_000],
    ['30m', 1_800_000],
    ['30h', 108_000_000],
    ['30d', 2_592_000_000],
  ])('keys.generate 200: a key with a duration of %s', async (duration, ms) => {
    const { body } = await generate({ duration });
    expect(Date.parse(String(body['expires'])) - Date.parse(String(body['created_at']))).toBe(ms);
  });

  it.each(['no-prefix', 'sk-', 'sk-with space', `sk-${'x'.repeat(300)}`])(
    'keys.generate 400: %j is an invalid key',
    async (key) => {
      expect(await generate({ key })).toEqual({
        status: 400,
        body: {
          error: {
            message: "Invalid key format. A key begins with 'sk-', followed by at most 253 letters, digits or signs.",
            type: 'internal_server_error',
            param: null,
            code: '400',
          },
        },
      });
    },
  );

  it.each(['sk-1', 'sk-0123456789abcdef', `sk-${'a'.repeat(30)}`, `sk-${'abcdefg'.repeat(5)}`])(
    'keys.generate 400: %j is too easy to guess, and the answer does not contain it',
    async (key) => {
      expect(await generate({ key })).toEqual({
        status: 400,
        body: {
          error: {
            message:
              "The key is too easy to guess. A key of your own has at least 20 characters, and at least 8 different ones after 'sk-'.",
            type: 'internal_server_error',
            param: null,
            code: '400',
          },
        },
      });
    },
  );

  it.each(['sk-0123456789abcdefg', 'sk-abcdefghabcdefghab', 'sk-own-key-0123456789abcdef'])(
    'keys.generate 200: %j is strong enough, and key_name ends with its last four characters',
    async (key) => {
      const { status, body } = await generate({ key });
      expect([status, body['key'], body['key_name']]).toEqual([200, key, `sk-...${key.slice(-4)}`]);
    },
  );

  it('keys.generate 400: a key or an alias that is taken', async () => {
    const key = await newKey({ key_alias: 'taken' });
    const taken = (message: string, error: object) => ({
      status: 400,
      body: { error: { message, code: '400', ...error } },
    });
    const plain = { type: 'invalid_request_error', param: null };
    expect(await generate({ key })).toEqual(taken('This key already exists.', plain));
    expect(await generate({ key_alias: 'taken' })).toEqual(
      taken("Key with alias 'taken' already exists. Unique key aliases across all keys are required.", {
        type: 'bad_request_error',
        param: 'key_alias',
      }),
    );
    expect(await generate({ key: app.adminKey })).toEqual(taken('This key is taken.', plain));
  });

  it('keys.generate 401: an unknown key', async () => {
    expect((await generate({}, 'sk-unknown-virtual-key')).status).toBe(401);
  });

  it.each(['internal_user_viewer', 'proxy_admin_viewer'])(
    'keys.generate 403: a caller with the role %s',
    async (role) => {
      expect(await generate({}, await newKey({ user_role: role }))).toEqual({
        status: 403,
        body: {
          error: { message: 'Only proxy admins can do this.', type: 'auth_error', param: 'None', code: '403' },
        },
      });
    },
  );

  it('keys.generate 401: a key without a user', async () => {
    const message =
      'Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=unknown.';
    expect(await generate({}, await newKey())).toEqual({
      status: 401,
      body: { error: { message, type: 'auth_error', param: 'None', code: '401' } },
    });
  });

  it('keys.generate 422: every field of a wrong type, with its location', async () => {
    const draft = { key_alias: 1, models: 'x', max_budget: 'much', user_role: 'king', metadata: [], unknown: 1 };
    expect(await generate(draft)).toEqual({
      status: 422,
      body: {
        detail: [
          { type: 'string_type', loc: ['body', 'key_alias'], msg: 'Input should be a valid string' },
          { type: 'list_type', loc: ['body', 'models'], msg: 'Input should be a valid list' },
          {
            type: 'float_parsing',
            loc: ['body', 'max_budget'],
            msg: 'Input should be a valid number, unable to parse string as a number',
          },
          {
            type: 'enum',
            loc: ['body', 'user_role'],
            msg: "Input should be 'proxy_admin', 'proxy_admin_viewer', 'internal_user' or 'internal_user_viewer'",
          },
          { type: 'dict_type', loc: ['body', 'metadata'], msg: 'Input should be a valid dictionary' },
        ],
      },
    });
  });

  it.each([
    ['', { type: 'missing', loc: ['body'], msg: 'Field required' }],
    [
      '[]',
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
      },
    ],
    [
      '{"duration":"soon"}',
      {
        type: 'value_error',
        loc: ['body', 'duration'],
        msg: 'Value error, write a duration as 30s, 30m, 30h, 30d, 2w or 1mo',
      },
    ],
  ])('keys.generate 422: a body of %j', async (body, fault) => {
    expect(await generate(body)).toEqual({ status: 422, body: { detail: [fault] } });
  });

  // A number in the location is the position of the fault in the body.
  it.each([
    ['ends after a name', '{"a"', ['body', 4]],
    ['ends after a colon', '{"a":', ['body', 5]],
    ['has a value that is not JSON', '{"a":x}', ['body']],
    ['nests too deeply', `{"metadata":${'{"a":'.repeat(600)}1${'}'.repeat(600)}}`, ['body']],
  ])('keys.generate 422: a body that %s', async (_fault, body, loc) => {
    expect(await generate(body)).toEqual({
      status: 422,
      body: { detail: [{ type: 'json_invalid', loc, msg: 'JSON decode error' }] },
    });
  });

  it('keys.generate 400: a budget below zero', async () => {
    const message = 'max_budget must be a non-negative finite number. Received: -1';
    expect(await generate({ max_budget: -1 })).toEqual({
      status: 400,
      body: { error: { message, type: 'internal_server_error', param: null, code: '400' } },
    });
  });
});

describe('keys.info', () => {
  it('keys.info 200: an administrator reads any key, by secret or hash; the answer has no secret', async () => {
    const key = await newKey();
    for (const secretOrHash of [key, sha256(key)]) {
      const { status, body } = await info(`?key=${secretOrHash}`);
      expect([status, body['key']]).toEqual([200, sha256(key)]);
      expect(JSON.stringify(body)).not.toContain(key);
    }
  });

  it('keys.info 401: an unknown key', async () => {
    expect((await info('', 'sk-unknown-virtual-key')).status).toBe(401);
  });

  it('keys.info 401: a blocked key', async () => {
    const key = await newKey();
    await call('POST', '/key/block', { key });
    const message = "Authentication Error, Key is blocked. Update via `/key/unblock` if you're an admin.";
    expect(await info('', key)).toEqual({
      status: 401,
      body: { error: { message, type: 'auth_error', param: 'None', code: '401' } },
    });
  });

  it('keys.info 403: another key, whether or not it exists', async () => {
    const ownKey = await newKey();
    for (const otherKey of [await newKey(), 'sk-there-is-no-such-key'])
      expect(await info(`?key=${otherKey}`, ownKey)).toEqual({
        status: 403,
        body: {
          error: {
            message: "You are not allowed to access this key's info. Your role=internal_user",
            type: 'internal_server_error',
            param: null,
            code: '403',
          },
        },
      });
  });

  it.each(['sk-there-is-no-such-key', 'sk-%00', '%00', 'a%27b', '__proto__'])(
    'keys.info 404: an administrator asks for the unknown key %s',
    async (unknownKey) => {
      expect(await info(`?key=${unknownKey}`)).toEqual({
        status: 404,
        body: { error: { message: 'Key not found in database', type: 'not_found_error', param: 'key', code: '404' } },
      });
    },
  );
});
