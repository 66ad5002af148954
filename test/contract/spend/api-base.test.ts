import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CHAT = { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] };
const ANSWER = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const DAYS = 'start_date=2026-01-01 00:00:00&end_date=2100-01-01 00:00:00';

let upstream: FaultServer;
let base = '';

beforeAll(async () => {
  upstream = await startFaultServer();
  base = `${upstream.url}/v1`;
  upstream.answer((response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(ANSWER));
  });
});
afterAll(() => upstream.stop());

describe.each([
  ['shown to every caller by default', {}, true],
  ['shown only to administrators if callers may not see it', { expose_api_base_header: false }, false],
])('api_base of calls is %s', (_title, general, isExposed) => {
  let app: TestApp;
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    const parameters = { model: 'openai/gpt-4o', api_base: base, api_key: 'of-upstream' };
    const models = [{ model_name: 'gpt', litellm_params: parameters }];
    app = await startApp({ config: { model_list: models, general_settings: general } });
    const newKey = async (draft: object): Promise<string> =>
      ((await (await app.call('POST', '/key/generate', draft)).json()) as { readonly key: string }).key;
    keys['administrator'] = app.adminKey;
    keys['user'] = await newKey({ user_id: 'someone' });
    keys['reader of all calls'] = await newKey({ permissions: { get_spend_routes: true } });
    const answer = await app.call('POST', '/v1/chat/completions', CHAT, { authorization: `Bearer ${keys['user']}` });
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.arrayBuffer();
  });
  afterAll(() => app.stop());

  it.each([
    ['/spend/logs', 'administrator'],
    ['/spend/logs', 'user'],
    ['/spend/logs', 'reader of all calls'],
    [`/spend/logs/v2?${DAYS}`, 'administrator'],
    [`/spend/logs/v2?${DAYS}`, 'user'],
    [`/spend/logs/ui?${DAYS}`, 'user'],
    ['/spend/logs/session/ui?session_id=', 'administrator'],
    ['/spend/logs/session/ui?session_id=', 'user'],
  ])('in %s, read by the %s', async (path, caller) => {
    const read = async (target: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
      const answer = await app.call('GET', target, undefined, { authorization: `Bearer ${keys[caller]}` });
      const body = (await answer.json()) as { readonly data?: [] } | [];
      return Array.isArray(body) ? body : (body.data ?? []);
    };
    const [row] = await read('/spend/logs');
    const rows = await read(path.endsWith('=') ? `${path}${String(row?.['session_id'])}` : path);
    expect(rows.map((spendRow) => [spendRow['model_group'], spendRow['api_base']])).toEqual([
      ['gpt', isExposed || caller === 'administrator' ? base : ''],
    ]);
  });
});
