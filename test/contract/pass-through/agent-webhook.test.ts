import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

const SECRET = 'webhook-secret';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ env: { CODEAGENT_WEBHOOK_SECRET: SECRET } });
});

afterAll(() => app.stop());

const sign = (body: string, secret = SECRET): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

const webhook = (body: string, signature?: string, server = app): Promise<Response> =>
  fetch(`${server.url}/codeagent/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      ...(signature === undefined ? {} : { 'x-webhook-signature': signature }),
    },
  });

describe('codingAgents.webhook', () => {
  it('codingAgents.webhook 200: an agent that the gateway did not launch', async () => {
    const body = '{"id":"bc_elsewhere","status":"FINISHED"}';
    const answer = await webhook(body, sign(body));
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
  });

  // A timestamp may differ from now by 300 s. The future timestamp has a margin: time passes until
  // its test runs.
  const timeFromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

  it.each([
    ['a status with NUL', { status: 'RUN\u0000NING' }],
    ['a long status', { status: 'R'.repeat(65) }],
    ['no status', {}],
    ['a name with a line end', { status: 'RUNNING', name: 'a\nb' }],
    ['a long branch', { status: 'RUNNING', target: { branchName: 'b'.repeat(2_001) } }],
    ['an old timestamp', { status: 'RUNNING', timestamp: timeFromNow(-301_000) }],
    ['a future timestamp', { status: 'RUNNING', timestamp: timeFromNow(330_000) }],
    ['an invalid timestamp', { status: 'RUNNING', timestamp: 'x' }],
  ])('codingAgents.webhook 400: %s', async (_case, members) => {
    const body = JSON.stringify({ id: 'bc_elsewhere', ...members });
    expect((await webhook(body, sign(body))).status).toBe(400);
    const validBody = JSON.stringify({ id: 'bc_elsewhere', status: 'RUNNING', timestamp: timeFromNow(0) });
    expect((await webhook(validBody, sign(validBody))).status).toBe(200);
  });

  it.each([['[]'], ['{"status":"FINISHED"}'], ['no json']])('codingAgents.webhook 400: %s', async (body) => {
    const answer = await webhook(body, sign(body));
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: {
          message: 'The message is not a JSON object with the id of an agent.',
          type: 'invalid_request_error',
          param: null,
          code: '400',
        },
      },
    ]);
  });

  it.each([
    ['no signature', undefined],
    ['a signature with another secret', sign('{}', 'other')],
    ['a signature of another body', sign('{} ')],
    ['a signature without `sha256=`', sign('{}').slice('sha256='.length)],
  ])('codingAgents.webhook 400: %s', async (_case, signature) => {
    const answer = await webhook('{}', signature);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('The signature of the message is wrong.');
  });

  it('codingAgents.webhook 404: no secret is configured', async () => {
    const appWithoutSecret = await startApp();
    try {
      const answer = await webhook('{}', sign('{}'), appWithoutSecret);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { error: { message: 'Not Found', type: 'not_found_error', param: null, code: '404' } },
      ]);
    } finally {
      await appWithoutSecret.stop();
    }
  });

  it('codingAgents.webhook 400: a body above the size limit', async () => {
    const largest = '{"id":"bc_elsewhere","status":"FINISHED"}'.padEnd(256 * 1024);
    expect((await webhook(largest, sign(largest))).status).toBe(200);
    const tooLarge = `${largest} `;
    const answer = await webhook(tooLarge, sign(tooLarge));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Request size is too large.');
  });
});
