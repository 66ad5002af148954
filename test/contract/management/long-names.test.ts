import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../../ports/engines.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Random text: PostgreSQL compresses repeated characters, so that they fit into an index. */
const LONG_NAME = randomBytes(4_000).toString('base64url');
const MESSAGE = 'An id, a name or an alias is too long: the database stores at most about 2,600 bytes.';
const PARAMS = { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };

const ERROR_ENVELOPE = { error: { message: MESSAGE, type: 'internal_server_error', param: null, code: '400' } };
const MODEL_ERROR = { error: { ...ERROR_ENVELOPE.error, type: 'auth_error', param: 'None' } };

const CASES: readonly (readonly [path: string, body: object, answer: object])[] = [
  ['/key/generate', { key_alias: LONG_NAME }, ERROR_ENVELOPE],
  ['/team/new', { team_id: LONG_NAME }, ERROR_ENVELOPE],
  ['/user/new', { user_id: LONG_NAME, auto_create_key: false }, ERROR_ENVELOPE],
  ['/user/new', { user_email: `${LONG_NAME}@example.com`, auto_create_key: false }, ERROR_ENVELOPE],
  ['/organization/new', { organization_id: LONG_NAME, organization_alias: 'a' }, { detail: { error: MESSAGE } }],
  ['/budget/new', { budget_id: LONG_NAME }, { detail: { error: MESSAGE } }],
  [
    '/credentials',
    { credential_name: LONG_NAME, credential_values: { api_key: 'k' }, credential_info: {} },
    ERROR_ENVELOPE,
  ],
  ['/model/new', { model_name: 'm', litellm_params: PARAMS, model_info: { id: LONG_NAME } }, MODEL_ERROR],
  ['/v1/access_group', { access_group_name: LONG_NAME }, { detail: MESSAGE }],
];

for (const engine of ENGINES.filter(({ name }) => name === 'postgresql'))
  describe.skipIf(engine.skipReason !== null)(`a name too long for an index, on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let app: TestApp;
    beforeAll(async () => {
      scratch = await engine.create();
      const env = { DATABASE_URL: scratch.options.databaseUrl ?? '', LITELLM_SALT_KEY: 'a-salt-key' };
      app = await startApp({ env });
    });
    afterAll(async () => {
      await app.stop();
      await scratch.remove();
    });

    it.each(CASES)('is refused by %s with 400', async (path, body, expected) => {
      const answer = await app.call('POST', path, body);
      expect([answer.status, await answer.json()]).toEqual([400, expected]);
    });
  });
