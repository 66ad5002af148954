import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

const configWith = (settings: object): Record<string, unknown> => {
  const named = (name: string, own: object) => ({
    model_name: name,
    litellm_params: { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: 'sk-up', ...own },
  });
  return {
    model_list: [named('plain', {}), named('own', { timeout: 0.07 }), named('streams', { stream_timeout: 0.08 })],
    ...settings,
  };
};

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer(() => {});
  app = await startApp({
    config: configWith({
      router_settings: { num_retries: 0, disable_cooldowns: true, timeout: 0.05, stream_timeout: 0.06 },
      litellm_settings: { request_timeout: 0.09 },
    }),
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function timeoutOf(model: string, members: object = {}, at = app) {
  const body = { model, messages: [{ role: 'user', content: 'x' }], ...members };
  const response = await at.call('POST', '/v1/chat/completions', body);
  await response.text();
  return [response.status, response.headers.get('x-litellm-timeout')];
}

describe('the timeout of a call', () => {
  it.each([
    ['router_settings.timeout', 'plain', {}, '0.05'],
    ['router_settings.stream_timeout', 'plain', { stream: true }, '0.06'],
    ['timeout of the deployment', 'own', {}, '0.07'],
    ['router_settings.stream_timeout, before the timeout of the deployment', 'own', { stream: true }, '0.06'],
    ['stream_timeout of the deployment', 'streams', { stream: true }, '0.08'],
    ['router_settings.timeout, where the deployment has one for streams only', 'streams', {}, '0.05'],
    ['that of the request', 'own', { timeout: 0.04, stream: true }, '0.04'],
  ])('is %s', async (_what, model, members, seconds) => {
    expect(await timeoutOf(model, members)).toEqual([408, seconds]);
  });

  it('is litellm_settings.request_timeout without router_settings.timeout', async () => {
    const other = await startApp({ config: configWith({ litellm_settings: { request_timeout: 0.09 } }) });
    try {
      expect(await timeoutOf('plain', {}, other)).toEqual([408, '0.09']);
      expect(await timeoutOf('plain', { stream: true }, other)).toEqual([408, '0.09']);
      await other.call('POST', '/config/update', { router_settings: { timeout: 0.03 } });
      expect(await timeoutOf('plain', {}, other)).toEqual([408, '0.03']);
    } finally {
      await other.stop();
    }
  });
});
