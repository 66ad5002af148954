import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded([
    contentFilter('mask', {
      mode: ['pre_call', 'post_call'],
      default_on: true,
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
    }),
  ]);
});
afterAll(() => guarded.stop());

describe('a response that the gateway stores', () => {
  it('200: the masked response is stored, and a continuation sends the masked history', async () => {
    guarded.setAnswer(`ask ${SECRET}`);
    const first = await guarded.ask('/v1/responses', { model: 'claude', input: `I am ${SECRET}`, store: true });
    expect(JSON.stringify(first.body)).toContain('ask [EMAIL_REDACTED]');
    const { id } = first.body as { id: string };
    const stored = await guarded.app.call('GET', `/v1/responses/${id}`);
    const text = await stored.text();
    expect([stored.status, text.includes(SECRET), text.includes('ask [EMAIL_REDACTED]')]).toEqual([200, false, true]);
    const next = await guarded.ask('/v1/responses', { model: 'claude', input: 'and?', previous_response_id: id });
    const upstreamBody = guarded.upstreamRequests()[0]?.body ?? '';
    expect([next.status, upstreamBody.includes(SECRET), upstreamBody.includes('I am [EMAIL_REDACTED]')]).toEqual([
      200,
      false,
      true,
    ]);
  });

  it('200: the stored input is masked', async () => {
    guarded.setAnswer('fine');
    const input = [{ role: 'user', content: `I am ${SECRET}` }];
    const first = await guarded.ask('/v1/responses', { model: 'claude', input, store: true });
    const { id: firstId } = first.body as { id: string };
    const body = { model: 'claude', input: `ask ${SECRET}`, previous_response_id: firstId, store: true };
    const { id } = (await guarded.ask('/v1/responses', body)).body as { id: string };
    const itemsOf = async (responseId: string): Promise<unknown> => {
      const list = await guarded.app.call('GET', `/v1/responses/${responseId}/input_items`);
      return await list.json();
    };
    const items = (text: string): object => ({ data: [{ role: 'user', content: [{ type: 'input_text', text }] }] });
    expect([await itemsOf(firstId), await itemsOf(id)]).toMatchObject([
      items('I am [EMAIL_REDACTED]'),
      items('ask [EMAIL_REDACTED]'),
    ]);
    expect(guarded.upstreamRequests()[0]?.body).toContain('I am [EMAIL_REDACTED]');
  });

  it('404: a streamed response whose text would be masked ends with an error, and is not stored', async () => {
    const event = (value: { readonly type: string; readonly [member: string]: unknown }): string =>
      `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'up', content: [] };
    const deltas = ['one two three ', 'four ', 'five ', 'six ', 'seven ', 'eight ', `nine ${SECRET}`];
    const events = [
      event({ type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...deltas.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
      event({ type: 'message_stop' }),
    ];
    guarded.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const next = (): void => {
        const one = events.shift();
        if (one === undefined) response.end();
        else response.write(one, () => setImmediate(next));
      };
      next();
    });
    const body = { model: 'claude', input: 'hi', store: true, stream: true };
    const answer = await guarded.ask('/v1/responses', body);
    const text = String(answer.body);
    expect([answer.status, text.includes('would mask a text in this stream')]).toEqual([200, true]);
    const [id = ''] = /resp_[\w-]+/.exec(text) ?? [];
    const stored = await guarded.app.call('GET', `/v1/responses/${id}`);
    expect([id !== '', stored.status]).toEqual([true, 404]);
  });
});
