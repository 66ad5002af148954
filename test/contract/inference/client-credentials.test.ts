import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';
import { CHAT, completionOf, MESSAGES } from './scripted.ts';

/** Callers may send credentials only for models with `configurable_clientside_auth_params`. */
let app: TestApp;
/** Callers may send credentials for every model. */
let permissiveApp: TestApp;
let operatorUpstream: FaultServer;
let callerUpstream: FaultServer;

beforeAll(async () => {
  operatorUpstream = await startFaultServer();
  callerUpstream = await startFaultServer();
  for (const upstream of [operatorUpstream, callerUpstream])
    upstream.answer((response, _socket, { headers, body }) => {
      const { model } = JSON.parse(body) as { model: string };
      const isRefused = headers.authorization === 'Bearer sk-bad';
      response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' });
      const error = { message: `Incorrect API key provided: sk-bad`, type: 'invalid_request_error' };
      response.end(JSON.stringify(isRefused ? { error } : completionOf(model)));
    });
  const params = {
    model: 'openai/up',
    api_base: `${operatorUpstream.url}/v1`,
    api_key: 'sk-ours',
    organization: 'org-ours',
  };
  const model_list = [
    { model_name: 'closed', litellm_params: params },
    { model_name: 'key', litellm_params: { ...params, configurable_clientside_auth_params: ['api_key'] } },
    { model_name: 'both', litellm_params: { ...params, configurable_clientside_auth_params: ['api_key', 'api_base'] } },
    {
      model_name: 'signed',
      litellm_params: {
        model: 'bedrock/anthropic.claude-3-haiku-20240307-v1:0',
        aws_access_key_id: 'AKIA',
        aws_secret_access_key: 'hidden',
        aws_region_name: 'eu-west-1',
      },
    },
  ];
  // The upstreams are on loopback. Callers may choose loopback only if the setting lists it.
  const litellm_settings = { user_url_allowed_hosts: ['127.0.0.1'] };
  const general_settings = { allow_client_side_credentials: true };
  app = await startApp({ config: { model_list, litellm_settings } });
  permissiveApp = await startApp({ config: { model_list, litellm_settings, general_settings } });
});

afterAll(async () => {
  await app.stop();
  await permissiveApp.stop();
  await operatorUpstream.stop();
  await callerUpstream.stop();
});

async function ask(server: TestApp, body: object, headers: Record<string, string> = {}) {
  const response = await server.call('POST', CHAT, { messages: MESSAGES, ...body }, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

const credentialsAt = ({ received }: FaultServer) => {
  const { authorization, 'openai-organization': organization } = received.at(-1)?.headers ?? {};
  return { calls: received.length, authorization, organization };
};

const refusal = (param: string, reason: string) => ({
  status: 400,
  body: { error: { message: `/chat/completions: ${reason}`, type: 'invalid_request_error', param, code: '400' } },
});

const NOT_CONFIGURED =
  'the configuration does not allow it (general_settings.allow_client_side_credentials, or configurable_clientside_auth_params of the model)';

describe('a caller with its own key and address', () => {
  it('400: a key that the configuration does not allow', async () => {
    const before = operatorUpstream.received.length;
    expect(await ask(app, { model: 'closed', api_key: 'sk-mine' })).toEqual(
      refusal('api_key', `The parameter 'api_key' cannot be honoured: ${NOT_CONFIGURED}.`),
    );
    expect(operatorUpstream.received.length).toBe(before);
  });

  it.each([
    ['closed', { api_base: 'http://127.0.0.1:9' }],
    ['key', { api_key: 'sk-mine', api_base: 'http://127.0.0.1:9' }],
  ])('401: an address that the configuration does not allow (%s, %j)', async (model, body) => {
    const before = operatorUpstream.received.length;
    const message = `Authentication Error, Rejected Request: api_base is not allowed in request body: ${NOT_CONFIGURED}.`;
    expect(await ask(app, { model, ...body })).toEqual({
      status: 401,
      body: { error: { message, type: 'auth_error', param: 'None', code: '401' } },
    });
    expect(operatorUpstream.received.length).toBe(before);
  });

  it('calls the upstream with its own key, and without the organization of the gateway', async () => {
    await ask(app, { model: 'key' });
    expect(credentialsAt(operatorUpstream)).toMatchObject({
      authorization: 'Bearer sk-ours',
      organization: 'org-ours',
    });
    expect(await ask(app, { model: 'key', api_key: 'sk-mine' })).toEqual({
      status: 200,
      body: { ...completionOf('up'), model: 'key' },
    });
    expect(credentialsAt(operatorUpstream)).toMatchObject({ authorization: 'Bearer sk-mine', organization: undefined });
    expect(JSON.parse(operatorUpstream.received.at(-1)?.body ?? '')).toEqual({ model: 'up', messages: MESSAGES });
  });

  it.each(['both', 'closed'])('receives no key of the gateway at its own address (model %s)', async (model) => {
    const server = model === 'both' ? app : permissiveApp;
    const base = `${callerUpstream.url}/v1/`;
    expect((await ask(server, { model, api_base: base })).status).toBe(200);
    const { calls } = credentialsAt(callerUpstream);
    expect(credentialsAt(callerUpstream)).toEqual({ calls, authorization: undefined, organization: undefined });
    expect((await ask(server, { model, api_base: base, api_key: 'sk-mine' })).status).toBe(200);
    expect(credentialsAt(callerUpstream)).toEqual({
      calls: calls + 1,
      authorization: 'Bearer sk-mine',
      organization: undefined,
    });
    expect(callerUpstream.received.at(-1)?.path).toBe('/v1/chat/completions');
  });

  it('400: an address for a provider with signed requests, an invalid address, an invalid key', async () => {
    expect(await ask(permissiveApp, { model: 'signed', api_base: callerUpstream.url })).toEqual(
      refusal(
        'api_base',
        "The parameter 'api_base' cannot be honoured: the provider bedrock is not called by key and address alone.",
      ),
    );
    for (const api_base of ['ftp://x', 'nowhere', 3])
      expect(await ask(permissiveApp, { model: 'both', api_base })).toEqual(
        refusal('api_base', "Invalid type for parameter 'api_base': it must be an http:// or https:// address."),
      );
    for (const api_key of [3, 'two words', 'new\nline', ''])
      expect(await ask(permissiveApp, { model: 'both', api_key })).toEqual(
        refusal(
          'api_key',
          "Invalid type for parameter 'api_key': it must be a string of printable ASCII characters without spaces.",
        ),
      );
  });

  it('401: the error and the span do not contain the refused key, and the deployment has no new failure', async () => {
    const query = '{ deployments(filter: { model: "key" }) { health { failures } } }';
    const failures = async () => (await (await app.call('POST', '/graphql', { query })).json()) as unknown;
    const before = await failures();
    const healthCounts = { data: { deployments: [{ health: { failures: expect.any(Number) as number } }] } };
    expect(before).toEqual(healthCounts);
    const trace = newTrace();
    expect(await ask(app, { model: 'key', api_key: 'sk-bad' }, trace.headers)).toMatchObject({ status: 401 });
    expect(await failures()).toEqual(before);
    const answerAndSpans = JSON.stringify([
      await ask(app, { model: 'key', api_key: 'sk-bad' }),
      await spansIn(app, trace.traceId),
    ]);
    expect(answerAndSpans).toContain('Incorrect API key provided');
    expect(answerAndSpans).not.toContain('sk-bad');
  });
});
