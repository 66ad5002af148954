import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';
import { contentFilter } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';

let app: TestApp;
let upstream: FaultServer;
let service: FaultServer;
/** Path prefix of the upstream of each model. */
const MODELS = { claude: '', masked: '', broken: '/broken' };

beforeAll(async () => {
  upstream = await startFaultServer();
  service = await startFaultServer();
  const patterns = [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }];
  const beside = { guardrail: 'generic_guardrail_api', mode: 'during_call', api_base: service.url, timeout: 60 };
  app = await startApp({
    config: {
      guardrails: [
        contentFilter('mask', { mode: 'post_call', patterns }),
        { guardrail_name: 'beside', litellm_params: beside },
      ],
      model_list: Object.entries(MODELS).map(([name, prefix]) => ({
        model_name: name,
        litellm_params: {
          model: 'anthropic/up',
          api_key: 'sk-up-0123456789abcdef',
          api_base: `${upstream.url}${prefix}`,
          ...(name === 'masked' ? { guardrails: ['mask'] } : {}),
        },
      })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await service.stop();
});

const event = (value: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

/** Sets the text of the answers of the upstream. A path with `/broken` fails. */
function setAnswer(text: string): void {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'up', content: [] };
  const usage = { input_tokens: 1, output_tokens: 1 };
  upstream.answer((response, _socket, { path, body }) => {
    const isStream = body.includes('"stream":true');
    response.writeHead(path.includes('/broken') ? 500 : 200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
    });
    if (!isStream)
      return response.end(
        JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage }),
      );
    const events = [
      event({ type: 'message_start', message: { ...message, usage } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
      event({ type: 'message_stop' }),
    ];
    return response.end(events.join(''));
  });
}

/** Number of stored responses, after another response was stored. */
async function storedCount(): Promise<number> {
  const last = await app.call('POST', '/v1/responses', { model: 'claude', input: 'hi', store: true });
  const { id } = (await last.json()) as { id: string };
  // The queue of responses keeps their order.
  const isStored = (): Promise<number> => changeInOtherProcess(app.dataDir, `${TOUCH} where id = ?`, id);
  await expect.poll(isStored, POLLING).toBe(1);
  return changeInOtherProcess(app.dataDir, TOUCH);
}
const TOUCH = 'update response set bytes = bytes';

describe('a response of a call with guardrails', () => {
  it('200: is stored with the masks of the guardrail that only the deployment of a fallback names', async () => {
    setAnswer(`ask ${SECRET}`);
    const body = { model: 'broken', input: 'hi', store: true, fallbacks: ['masked'] };
    const answer = await app.call('POST', '/v1/responses', body);
    const response = (await answer.json()) as { id: string; output: unknown };
    const output = [{ content: [{ text: 'ask [EMAIL_REDACTED]' }] }];
    expect([answer.status, response]).toMatchObject([200, { output }]);
    const stored = await app.call('GET', `/v1/responses/${response.id}`);
    expect([stored.status, await stored.json()]).toMatchObject([200, { output }]);
  });

  it.each([
    ['streamed', { stream: true }, ['beside']],
    ['streamed', { stream: true }, ['beside', 'mask']],
    ['complete', {}, ['beside']],
    ['complete', {}, ['beside', 'mask']],
  ])('400: is not stored if a guardrail beside the call blocks: %s %j %j', async (_kind, members, guardrails) => {
    setAnswer('an answer');
    const before = await storedCount();
    const answered = upstream.received.length;
    service.answer((response) => {
      // The answer of the upstream has been read when another one has been stored.
      void vi
        .waitFor(() => expect(upstream.received.length).toBe(answered + 1), POLLING)
        .then(storedCount)
        .then(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ action: 'BLOCKED', blocked_reason: 'no' }));
        });
    });
    const body = { model: 'claude', input: 'a prompt', store: true, guardrails, ...members };
    const answer = await app.call('POST', '/v1/responses', body);
    expect([answer.status, (await storedCount()) - before]).toEqual([400, 2]);
  });

  it('200: an answer is stored if the guardrails beside the call pass', async () => {
    setAnswer('fine');
    service.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ action: 'NONE' }));
    });
    for (const members of [{}, { stream: true }])
      for (const guardrails of [['beside'], ['beside', 'mask']]) {
        const body = { model: 'claude', input: 'hi', store: true, guardrails, ...members };
        const text = await (await app.call('POST', '/v1/responses', body)).text();
        const [id = ''] = /resp_[\w-]+/.exec(text) ?? [];
        const stored = await app.call('GET', `/v1/responses/${id}`);
        expect([stored.status, (await stored.text()).includes('fine')]).toEqual([200, true]);
      }
  });
});
