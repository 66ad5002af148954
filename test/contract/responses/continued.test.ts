import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { hexOf, invalid, type Json, noPrevious, type ResponseClient, startResponses } from './response-client.ts';

let client: ResponseClient;
beforeAll(async () => {
  client = await startResponses();
});
afterAll(() => client.stop());

describe('continuing a response that was translated from a chat completion', () => {
  it('rebuilds the conversation, without the instructions of earlier turns', async () => {
    const first = await client.chatAnswer('I am listening.', { input: 'Remember 7.', instructions: 'Be brief.' });
    const second = await client.chatAnswer('Noted.', { input: 'And 8.', previous_response_id: first.id });
    const { traceId, headers } = newTrace();
    const third = await client.chatAnswer(
      '7 and 8.',
      { input: [{ role: 'user', content: 'Which?' }], previous_response_id: second.id, instructions: 'Be exact.' },
      { ...client.key, ...headers },
    );
    expect(client.sentMessages()).toEqual([
      { role: 'system', content: 'Be exact.' },
      { role: 'user', content: 'Remember 7.' },
      { role: 'assistant', content: 'I am listening.' },
      { role: 'user', content: 'And 8.' },
      { role: 'assistant', content: 'Noted.' },
      { role: 'user', content: 'Which?' },
    ]);
    expect(third['previous_response_id']).toBe(second.id);
    expect(await spansIn(client.app, traceId)).toMatchObject([
      { spendRow: { callType: 'aresponses', status: 'SUCCESS' } },
    ]);
    // A second branch that continues the first response.
    await client.chatAnswer('Only 7.', { input: 'What do you know?', previous_response_id: first.id });
    expect(client.sentMessages()).toEqual([
      { role: 'user', content: 'Remember 7.' },
      { role: 'assistant', content: 'I am listening.' },
      { role: 'user', content: 'What do you know?' },
    ]);
    const { body } = await client.call('GET', `/v1/responses/${third.id}/input_items`);
    expect(body).toMatchObject({ data: [{ role: 'user', content: [{ type: 'input_text', text: 'Which?' }] }] });
  });

  it('sends earlier tool calls and their results', async () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }];
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
    client.answerWith({ role: 'assistant', content: null, tool_calls: calls });
    const { body: first } = await client.ask({ model: 'chats', input: 'Look.', tools });
    const result = { type: 'function_call_output', call_id: 'c1', output: 'Blue.' };
    await client.chatAnswer('It is blue.', { input: [result], previous_response_id: first['id'], tools });
    expect(client.sentMessages()).toEqual([
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'c1', content: 'Blue.' },
    ]);
  });

  it('works with another model: an upstream with a Responses API gets the messages of the conversation', async () => {
    client.answerWith({ role: 'assistant', content: 'Hi', reasoning_content: 'A greeting.' });
    const { body: first } = await client.ask({ model: 'chats', input: 'Hello' });
    expect((first['output'] as Json[]).map(({ type }) => type)).toEqual(['reasoning', 'message']);
    client.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'resp_up', object: 'response', status: 'completed', output: [] }));
    });
    const { status } = await client.ask({
      model: 'thinker',
      input: 'And?',
      previous_response_id: first['id'],
      top_p: 1e-7,
    });
    expect(status).toBe(200);
    expect(JSON.parse(client.upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'up-2',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Hi' }],
        },
        { type: 'message', role: 'user', content: 'And?' },
      ],
      top_p: 1e-7,
    });
  });

  it('responses.create 400: a deleted response in the conversation, and a response of another owner', async () => {
    const first = await client.chatAnswer('One.', { input: '1' });
    const second = await client.chatAnswer('Two.', { input: '2', previous_response_id: first.id });
    const otherKey = await client.newKey();
    expect(await client.ask({ model: 'chats', input: 'x', previous_response_id: second.id }, otherKey)).toEqual(
      noPrevious(second.id),
    );
    await client.call('DELETE', `/v1/responses/${first.id}`);
    const callCount = client.upstream.received.length;
    expect(await client.ask({ model: 'chats', input: 'x', previous_response_id: second.id })).toEqual(
      invalid(
        'previous_response_id',
        `The response with id '${second.id}' continues a response that is no longer stored.`,
      ),
    );
    expect(client.upstream.received.length).toBe(callCount);
    // The later response itself stays readable.
    expect((await client.call('GET', `/v1/responses/${second.id}`)).status).toBe(200);
  });

  it('responses.create 400: a response in the background, which the deployment does not support', async () => {
    const { status, body } = await client.ask({ model: 'chats', input: 'x', background: true });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { param: 'background' } } });
  });
});

describe('references to items', () => {
  it('are resolved to their stored items', async () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }];
    client.answerWith({ role: 'assistant', content: 'A moment.', tool_calls: calls });
    const { body: first } = await client.ask({ model: 'chats', input: 'Look.' });
    const [message = {}, functionCall = {}] = first['output'] as Json[];
    await client.chatAnswer('Blue.', {
      input: [
        { type: 'item_reference', id: `msg_${hexOf(String(first['id']))}_i0` },
        { type: 'item_reference', id: message['id'] },
        { id: functionCall['id'] },
        { type: 'function_call_output', call_id: 'c1', output: 'Blue.' },
      ],
    });
    expect(client.sentMessages()).toEqual([
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: 'A moment.', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c1', content: 'Blue.' },
    ]);
  });

  it('responses.create 400: an item of another owner, an unknown item, and an item of a response that is not stored', async () => {
    const first = await client.chatAnswer('Hi', { input: 'Hello' });
    const unstored = await client.chatAnswer('Hi', { input: 'Hello', store: false });
    const [message = {}] = unstored['output'] as Json[];
    const hex = hexOf(first.id);
    const otherKey = await client.newKey();
    const callCount = client.upstream.received.length;
    for (const [id, headers] of [
      [`msg_${hex}_0`, otherKey],
      [`msg_${hex}_7`, client.key],
      [`msg_${'0'.repeat(32)}_0`, client.key],
      [String(message['id']), client.key],
    ] as const)
      expect(await client.ask({ model: 'chats', input: [{ type: 'item_reference', id }] }, headers)).toEqual(
        invalid('input', `Item with id '${id}' not found.`),
      );
    // An id in a format that the gateway does not issue.
    const foreign = await client.ask({ model: 'chats', input: [{ type: 'item_reference', id: 'msg_up' }] });
    expect(foreign).toMatchObject({ status: 400, body: { error: { param: 'input[0]' } } });
    expect(client.upstream.received.length).toBe(callCount);
  });
});
