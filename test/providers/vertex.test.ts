import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import { CloudRefused, type CloudTokens } from '../../src/domain/chat/cloud-tokens.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { GENERATE_CONTENT } from '../../src/domain/inference/endpoint.ts';
import { Secret } from '../../src/domain/secret.ts';
import { vertex } from '../../src/providers/gemini/vertex.ts';
import { createHttpProvider } from '../../src/providers/http-provider.ts';
import { createHttpClient } from '../../src/runtime/http-client.ts';
import { aDeployment, aModelRequest } from '../support/chat.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

const TOKEN = 'ya29.access-token-0123456789';
const ANSWER = {
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
};
const http = createHttpClient();
const holding: CloudTokens = { for: async () => ({ token: new Secret(TOKEN), project: 'named' }) };

let faults: FaultServer;

beforeAll(async () => {
  faults = await startFaultServer();
});

afterAll(async () => {
  await http.close();
  await faults.stop();
});

function send(options: Record<string, string>, tokens: CloudTokens = holding, differing: Partial<Deployment> = {}) {
  const deployment = aDeployment({
    provider: 'vertex_ai',
    upstreamModel: 'gemini-2.5-pro',
    apiBase: `${faults.url}/v1`,
    apiKey: null,
    options,
    ...differing,
  });
  const request = aModelRequest({ model: 'm', contents: [] }, { endpoint: GENERATE_CONTENT });
  return createHttpProvider(http, vertex(tokens)).send(deployment, request, new AbortController().signal);
}

function answerWith(status: number, body: unknown): void {
  faults.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-echo': `Bearer ${TOKEN}` });
    response.end(JSON.stringify(body));
  });
}

describe('a model on Google Cloud', () => {
  it.each([
    [{}, '/v1/projects/named/locations/global/publishers/google/models/gemini-2.5-pro:generateContent'],
    [
      { vertex_project: 'mine', vertex_location: 'europe-west4' },
      '/v1/projects/mine/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent',
    ],
  ])('is called in its project and place, by token: %j', async (options, path) => {
    answerWith(200, ANSWER);
    const exchange = await send(options);
    expect(JSON.parse(Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8'))).toEqual(ANSWER);
    const received = faults.received.at(-1);
    expect(received?.path).toBe(path);
    expect(received?.headers['authorization']).toBe(`Bearer ${TOKEN}`);
    expect(JSON.parse(received?.body ?? '')).toEqual({ contents: [] });
    expect(JSON.stringify(exchange.headers)).not.toContain(TOKEN);
  });

  it('the address is the one of its place', async () => {
    const prepared = async (options: Record<string, string>) =>
      await vertex(holding).prepare(
        aDeployment({ provider: 'vertex_ai', upstreamModel: 'g', options }),
        aModelRequest({ model: 'm', contents: [] }, { endpoint: GENERATE_CONTENT, stream: true }),
      );
    expect((await prepared({})).url).toBe(
      'https://aiplatform.googleapis.com/v1/projects/named/locations/global/publishers/google/models/g:streamGenerateContent?alt=sse',
    );
    expect((await prepared({ vertex_location: 'us-east1' })).url).toContain(
      'https://us-east1-aiplatform.googleapis.com/v1/',
    );
  });

  it('what it says of the token is not told', async () => {
    answerWith(403, { error: { code: 403, message: `${TOKEN} may not`, status: 'PERMISSION_DENIED' } });
    await expect(send({})).rejects.toMatchObject({
      upstreamStatus: 403,
      message: 'litellm.PermissionDeniedError: PermissionDeniedError: VertexAIException - <secret> may not',
    });
  });

  it('without a token, or without a project, nothing is sent', async () => {
    const calls = faults.received.length;
    const refusing: CloudTokens = { for: () => Promise.reject(new CloudRefused('no')) };
    await expect(send({}, refusing)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining('No access token for Google Cloud'),
    });
    const nameless: CloudTokens = { for: async () => ({ token: new Secret(TOKEN), project: null }) };
    await expect(send({}, nameless)).rejects.toMatchObject({ message: expect.stringContaining('set vertex_project') });
    expect(faults.received.length).toBe(calls);
  });
});
