import { LLMock } from '@copilotkit/aimock';
import { once } from 'node:events';
import { connect } from 'node:net';
import OpenAI, { AzureOpenAI } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Good day to you.' });
  await upstream.start();
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'voice',
          litellm_params: { model: 'openai/gpt-realtime', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL },
        },
      ],
    },
  });
  openai = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** The SDK supports TLS only. This option gives its WebSocket a plain TCP connection to the server. */
const plainTcp = { createConnection: () => connect(Number(new URL(app.url).port), '127.0.0.1') };

/** Waits for an event of one type; fails with the SDK's error. */
function eventOf<Type extends RealtimeServerEvent['type']>(
  session: OpenAIRealtimeWS,
  type: Type,
): Promise<Extract<RealtimeServerEvent, { type: Type }>> {
  return new Promise((resolve, reject) => {
    session.on('event', (event) => {
      if (event.type === type) resolve(event as Extract<RealtimeServerEvent, { type: Type }>);
    });
    session.on('error', reject);
  });
}

describe('the realtime client of the official SDK', () => {
  it('has a conversation under the public name of the model', async () => {
    const session = new OpenAIRealtimeWS({ model: 'voice', options: plainTcp }, openai);
    const created = await eventOf(session, 'session.created');
    expect(created.session).toMatchObject({ model: 'voice' });

    const updated = eventOf(session, 'session.updated');
    session.send({ type: 'session.update', session: { type: 'realtime', model: 'voice', instructions: 'Be kind.' } });
    expect((await updated).session).toMatchObject({ model: 'voice', instructions: 'Be kind.' });

    const done = eventOf(session, 'response.done');
    session.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
    });
    session.send({ type: 'response.create' });
    const { response } = await done;
    expect(response.status).toBe('completed');
    expect(JSON.stringify(response.output)).toContain('Good day to you.');

    const closed = once(session.socket, 'close');
    session.close();
    // The close code of a normal end.
    expect((await closed)[0]).toBe(1000);
  });

  it('opens a session in the form of Azure’s client', async () => {
    const azure = new AzureOpenAI({ endpoint: app.url, apiKey: app.adminKey, apiVersion: '2025-04-01-preview' });
    const session = await OpenAIRealtimeWS.azure(azure, { deploymentName: 'voice', options: plainTcp });
    expect((await eventOf(session, 'session.created')).session).toMatchObject({ model: 'voice' });
    session.close();
  });
});

it('a WebSocket of a browser opens a session with the key in a subprotocol', async () => {
  const protocols = ['realtime', `openai-insecure-api-key.${app.adminKey}`];
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/realtime?model=voice`, protocols);
  const [event] = (await once(socket, 'message')) as [MessageEvent<string>];
  expect([socket.protocol, JSON.parse(event.data).type]).toEqual(['realtime', 'session.created']);
  const closed = once(socket, 'close');
  socket.close(1000);
  await closed;
});
