import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerWith,
  type Frame,
  openResponses,
  type ResponseSetup,
  startResponseSetup,
  streamOf,
} from '../../support/response-socket.ts';

let setup: ResponseSetup;
beforeAll(async () => {
  setup = await startResponseSetup();
});
afterAll(() => setup.stop());

const openSocket = () => openResponses(setup.app);
/** Type of each frame, and its lane: the requests with one stream id, or those without one. */
const typesAndLanes = (frames: readonly Frame[]) => frames.map(({ type, stream_id: lane }) => [type, lane]);

describe('lanes of a connection', () => {
  it('are answered in parallel, each in order, and every event has its stream id', async () => {
    const calls = setup.hold();
    const client = await openSocket();
    const create = (input: string, stream_id?: string): void =>
      client.sendEvent({ type: 'response.create', model: 'thinker', input, stream_id });
    create('one', 'a');
    create('two', 'a');
    create('three', 'b');
    create('four');
    const first = await calls.next();
    const third = await calls.next();
    const fourth = await calls.next();
    expect([first, third, fourth].map(({ body }) => body['input'])).toEqual(['one', 'three', 'four']);
    answerWith(third.response, streamOf());
    expect(typesAndLanes(await client.answer())).toEqual([
      ['response.created', 'b'],
      ['response.completed', 'b'],
    ]);
    answerWith(fourth.response, streamOf());
    expect(typesAndLanes(await client.answer())).toEqual([
      ['response.created', undefined],
      ['response.completed', undefined],
    ]);
    answerWith(first.response, streamOf());
    const second = await calls.next();
    expect(second.body['input']).toBe('two');
    // An invalid request waits for its turn, too. Otherwise its error would look like an error of the active request.
    client.sendEvent({ type: 'response.create', stream_id: 'a' });
    answerWith(second.response, streamOf());
    expect(typesAndLanes(await client.answer())).toEqual([
      ['response.created', 'a'],
      ['response.completed', 'a'],
    ]);
    expect(typesAndLanes(await client.answer())).toEqual([
      ['response.created', 'a'],
      ['response.completed', 'a'],
    ]);
    expect(typesAndLanes(await client.answer())).toEqual([['error', 'a']]);
    client.socket.close();
  });

  it('have at most sixteen active calls; the next call starts when one of them has ended', async () => {
    const calls = setup.hold();
    const client = await openSocket();
    for (let lane = 0; lane < 17; lane += 1)
      client.sendEvent({ type: 'response.create', model: 'thinker', input: `${lane}`, stream_id: `lane_${lane}` });
    const firstCalls = await Promise.all(Array.from({ length: 16 }, () => calls.next()));
    expect(firstCalls.map(({ body }) => body['input'])).toEqual(Array.from({ length: 16 }, (_, lane) => `${lane}`));
    // The upstream gets this call next, so the seventeenth call is still waiting.
    const between = setup.app.call('POST', '/v1/responses', { model: 'thinker', input: 'between', stream: true });
    const next = await calls.next();
    expect(next.body['input']).toBe('between');
    answerWith(next.response, streamOf());
    await (await between).text();
    const [first, ...others] = firstCalls;
    if (first) answerWith(first.response, streamOf());
    const { body, response } = await calls.next();
    expect(body['input']).toBe('16');
    for (const call of others) answerWith(call.response, streamOf());
    answerWith(response, streamOf());
    const ended = new Set<unknown>();
    while (ended.size < 17) {
      const { type, stream_id: lane } = await client.frame();
      if (type === 'response.completed') ended.add(lane);
    }
    client.socket.close();
  });

  it('are at most 32 with a stream id, and one without', async () => {
    setup.streamWith(streamOf());
    const client = await openSocket();
    for (let lane = 0; lane < 32; lane += 1)
      await client.ask({ model: 'thinker', input: 'x', stream_id: `lane_${lane}` });
    expect(await client.ask({ model: 'thinker', input: 'x', stream_id: 'one-more' })).toEqual([
      {
        type: 'error',
        status: 400,
        stream_id: 'one-more',
        error: {
          type: 'invalid_request_error',
          code: 'websocket_stream_limit_reached',
          message:
            '/responses: This connection reached the limit of 32 lanes. Use one of them, or open another connection.',
          param: 'stream_id',
          headers: { 'x-litellm-version': expect.any(String) },
        },
      },
    ]);
    for (const lane of ['lane_0', undefined])
      expect((await client.ask({ model: 'thinker', input: 'x', stream_id: lane })).at(-1)?.type).toBe(
        'response.completed',
      );
    client.socket.close();
  });
});
