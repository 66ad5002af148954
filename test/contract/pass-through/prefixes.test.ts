import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CODING_AGENTS, FORWARDED_PROVIDERS, locatedBase } from '../../../src/domain/pass-through/providers.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  const base = (name: string): string => `${target.url}/${name}`;
  app = await startApp({
    env: {
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret-of-aws',
      AWS_REGION: 'eu-west-1',
      AWS_TRANSCRIBE_ENDPOINT: base('transcribe'),
      AWS_COMPREHENDMEDICAL_ENDPOINT: base('medical'),
      ASSEMBLYAI_API_KEY: 'as-key',
      ASSEMBLYAI_API_BASE: base('us'),
      ASSEMBLYAI_EU_API_BASE: base('eu'),
      AZURE_SPEECH_API_KEY: 'speech-key',
      AZURE_SPEECH_API_BASE: base('speech'),
      TINYFISH_API_KEY: 'fish-key',
      TINYFISH_API_BASE: base('fish'),
      MILVUS_API_BASE: base('milvus'),
      MILVUS_API_KEY: 'root:Milvus',
      GIGACHAT_CREDENTIALS: 'giga-credentials',
      GIGACHAT_API_BASE: base('giga/api/v1'),
      GIGACHAT_AUTH_URL: base('token/giga'),
      WATSONX_API_KEY: 'ibm-key',
      WATSONX_URL: base('watsonx'),
      WATSONX_IAM_URL: base('token/ibm'),
    },
    config: {
      model_list: [
        {
          model_name: 'account',
          litellm_params: {
            model: 'mistral/any',
            api_base: base('deployed'),
            api_key: 'deployment-key',
            use_in_pass_through: true,
          },
        },
      ],
    },
  });
  key = await newKey(app);
});

/** Makes the target issue tokens at token paths, and echo requests at other paths. */
function echoOrIssueToken(): void {
  target.answer((response, _socket, { method, path, headers, body }) => {
    response.setHeader('content-type', 'application/json');
    if (path === '/token/giga') response.end(JSON.stringify({ access_token: 'giga-token', expires_at: 1e15 }));
    else if (path === '/token/ibm') response.end(JSON.stringify({ access_token: 'ibm-token', expires_in: 3600 }));
    else response.end(JSON.stringify({ method, path, headers, body }));
  });
}

beforeEach(echoOrIssueToken);

afterAll(async () => {
  await app.stop();
  await target.stop();
});

const lastRequest = () => target.received.at(-1);
const post = (path: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
  sendAs(app, key, { method: 'POST', path, body, headers });

it('every expected prefix belongs to a provider', () => {
  const prefixes = new Set([...FORWARDED_PROVIDERS, CODING_AGENTS].flatMap((provider) => provider.prefixes));
  const expected =
    'bedrock comprehendmedical azure_speech transcribe vertex-ai vertex_ai cohere cursor gemini anthropic azure azure_ai openai openai_passthrough assemblyai eu.assemblyai tinyfish vllm mistral typesafe laya bespoke openrouter milvus gigachat watsonx nvidia_nim deepgram fal_ai';
  expect(expected.split(' ').filter((prefix) => !prefixes.has(prefix))).toEqual([]);
});

describe('a call is forwarded byte for byte with the credential of the provider', () => {
  it.each([
    ['/eu.assemblyai/v2/transcript', '/eu/v2/transcript', { authorization: 'as-key' }],
    ['/assemblyai/v2/transcript', '/us/v2/transcript', { authorization: 'as-key' }],
    [
      '/azure_speech/speech/recognition/conversation/cognitiveservices/v1?language=en-US',
      '/speech/speech/recognition/conversation/cognitiveservices/v1?language=en-US',
      { 'ocp-apim-subscription-key': 'speech-key' },
    ],
    ['/tinyfish/v1/automation/run', '/fish/v1/automation/run', { 'x-api-key': 'fish-key' }],
    [
      '/milvus/v2/vectordb/entities/search',
      '/milvus/v2/vectordb/entities/search',
      { authorization: 'Bearer root:Milvus' },
    ],
    ['/gigachat/chat/completions', '/giga/api/v1/chat/completions', { authorization: 'Bearer giga-token' }],
    ['/watsonx/ml/v1/text/chat?version=2', '/watsonx/ml/v1/text/chat?version=2', { authorization: 'Bearer ibm-token' }],
    ['/mistral/v1/ocr', '/deployed/v1/ocr', { authorization: 'Bearer deployment-key' }],
  ])('%s goes to %s', async (path, upstream, credential) => {
    const body = '{"a":  1, "b":"é"}';
    const response = await post(path, body, { ...JSON_TYPE, cookie: 'a=b', 'x-pass-trace': 't' });
    const ownHeaders = {
      'content-type': 'application/json',
      trace: 't',
      'content-length': String(Buffer.byteLength(body)),
    };
    expect([response.status, lastRequest()?.method, lastRequest()?.path, lastRequest()?.body]).toEqual([
      200,
      'POST',
      upstream,
      body,
    ]);
    const { host, connection, 'user-agent': agent, ...headers } = lastRequest()?.headers ?? {};
    expect(headers).toEqual({ accept: '*/*', ...ownHeaders, ...credential });
    expect([agent?.startsWith('lensgate/'), host, typeof connection]).toEqual([
      true,
      new URL(target.url).host,
      'string',
    ]);
    expect(JSON.stringify(lastRequest())).not.toContain(key);
  });
});

describe('tokens in exchange for a key', () => {
  it('are requested once for all calls, in the format of the issuer', async () => {
    await post('/gigachat/embeddings', '{}');
    await post('/watsonx/ml/v1/text/embeddings', '{}');
    const tokenRequests = target.received.filter(({ path }) => path.startsWith('/token/'));
    expect(tokenRequests.map(({ path }) => path).toSorted()).toEqual(['/token/giga', '/token/ibm']);
    const [giga, ibm] = tokenRequests.toSorted((left, right) => left.path.localeCompare(right.path));
    expect(giga?.headers).toMatchObject({
      authorization: 'Basic giga-credentials',
      rquid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(giga?.body).toBe('scope=GIGACHAT_API_PERS');
    expect(ibm?.body).toBe('grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&apikey=ibm-key');
  });

  it.each([
    ['refuses the key', 400, '{"apikey":"ibm-key"}', 'refused the key of the provider with status 400'],
    ['answers with too many bytes', 200, 'x'.repeat(65 * 1024), 'The answer of the issuer has more than 65536 bytes.'],
  ])(
    'make the call fail if the issuer %s; the error does not contain the key',
    async (_case, issuerStatus, text, message) => {
      const appWithFailingIssuer = await startApp({
        env: { WATSONX_API_KEY: 'ibm-key', WATSONX_URL: target.url, WATSONX_IAM_URL: `${target.url}/refused` },
      });
      try {
        target.answer((response) => response.writeHead(issuerStatus).end(text));
        const response = await sendAs(appWithFailingIssuer, appWithFailingIssuer.adminKey, {
          path: '/watsonx/ml/v1/x',
        });
        const [status, body] = await answerOf(response);
        expect(status).toBe(500);
        expect(JSON.stringify(body)).toContain(message);
        expect(JSON.stringify(body)).not.toContain('ibm-key');
      } finally {
        await appWithFailingIssuer.stop();
      }
    },
  );
});

/** AWS Signature Version 4 of a POST without a query, implemented here from the AWS specification. */
function signatureOf({
  path,
  headers,
  body,
  service,
}: {
  path: string;
  headers: Record<string, string>;
  body: string;
  service: string;
}) {
  const [, signed = ''] = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '') ?? [];
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const mac = (secret: string | Buffer, text: string): Buffer => createHmac('sha256', secret).update(text).digest();
  const lines = signed.split(';').map((name) => `${name}:${headers[name] ?? ''}\n`);
  const payload = headers['x-amz-content-sha256'] ?? hash(body);
  const canonical = ['POST', path, '', lines.join(''), signed, payload].join('\n');
  const timestamp = headers['x-amz-date'] ?? '';
  const scope = `${timestamp.slice(0, 8)}/eu-west-1/${service}/aws4_request`;
  const secret = [timestamp.slice(0, 8), 'eu-west-1', service, 'aws4_request'].reduce<Buffer | string>(
    (last, part) => mac(last, part),
    'AWS4secret-of-aws',
  );
  return mac(secret, ['AWS4-HMAC-SHA256', timestamp, scope, hash(canonical)].join('\n')).toString('hex');
}

describe('services of Amazon that name operations in a header', () => {
  it.each([
    [
      '/comprehendmedical/DetectEntitiesV2',
      {},
      '/medical/',
      'ComprehendMedical_20181030.DetectEntitiesV2',
      'comprehendmedical',
    ],
    ['/transcribe/StartTranscriptionJob', {}, '/transcribe/', 'Transcribe.StartTranscriptionJob', 'transcribe'],
    [
      '/transcribe',
      { 'x-amz-target': 'Transcribe.ListTranscriptionJobs' },
      '/transcribe/',
      'Transcribe.ListTranscriptionJobs',
      'transcribe',
    ],
  ])('%s is signed', async (path, extraHeaders, upstream, operation, service) => {
    const body = '{"Text":"aspirin"}';
    expect((await post(path, body, { ...JSON_TYPE, ...extraHeaders })).status).toBe(200);
    const headers = Object.fromEntries(
      Object.entries(lastRequest()?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(headers).toMatchObject({ 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': operation });
    // The slash at the end of the upstream path is optional.
    expect([lastRequest()?.path.replace(/\/$/, ''), lastRequest()?.body]).toEqual([upstream.replace(/\/$/, ''), body]);
    const signed = { path: lastRequest()?.path ?? '', headers, body, service };
    expect(/Signature=([0-9a-f]{64})/.exec(headers['authorization'] ?? '')?.[1]).toBe(signatureOf(signed));
    expect(JSON.stringify(lastRequest())).not.toMatch(/secret-of-aws|Bearer/);
  });

  it('receive no call for a path without a valid operation: the gateway answers 400', async () => {
    const count = target.received.length;
    for (const path of ['/transcribe', '/transcribe/a/b', '/transcribe/Get.Job', '/comprehendmedical/'])
      expect((await post(path, '{}')).status).toBe(400);
    expect((await sendAs(app, key, { path: '/transcribe/ListTranscriptionJobs' })).status).toBe(400);
    expect(target.received).toHaveLength(count);
  });

  it('are recorded by operation; operations that only read are free', async () => {
    for (const [path, costUsd] of [
      ['/transcribe/GetTranscriptionJob', '0'],
      ['/transcribe/StartTranscriptionJob', null],
    ] as const) {
      const { traceId, headers } = newTrace();
      await (await post(path, '{}', { ...JSON_TYPE, ...headers })).text();
      expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { modelGroup: path.slice(1), costUsd } }]);
    }
  });
});

describe('accounts that all callers share', () => {
  it('keys may call only paths of their own jobs, administrators may call all paths', async () => {
    const count = target.received.length;
    for (const path of ['/tinyfish/v1/vault/items', '/azure_speech/speechtotext/v3.2/transcriptions'])
      expect((await post(path, '{}')).status).toBe(403);
    expect((await sendAs(app, key, { path: '/tinyfish/v1/runs' })).status).toBe(403);
    expect(target.received).toHaveLength(count);
    expect((await sendAs(app, key, { path: '/tinyfish/v1/runs/1' })).status).toBe(200);
    expect((await sendAs(app, app.adminKey, { path: '/tinyfish/v1/runs' })).status).toBe(200);
  });

  it('recognised speech is priced by the second', async () => {
    const { traceId, headers } = newTrace();
    target.answer((response) => {
      response.setHeader('content-type', 'application/json');
      // `Duration` counts units of 100 ns: 100 s. They cost 0.02777778 USD at 1 USD per hour.
      response.end(JSON.stringify({ RecognitionStatus: 'Success', Duration: 100 * 1e7 }));
    });
    const path = '/azure_speech/speech/recognition/conversation/cognitiveservices/v1';
    await (await post(path, 'RIFF', { 'content-type': 'audio/wav', ...headers })).text();
    const [span] = (await spansIn(app, traceId)) as readonly { readonly spendRow: Record<string, unknown> }[];
    expect(span?.spendRow).toMatchObject({ modelGroup: 'azure/speech/azure-stt', costUsd: '0.02777778' });
  });
});

it('stored credentials of Amazon sign calls, and a stored key of watsonx is exchanged for a token', async () => {
  const appWithStoredKeys = await startApp({ env: { WATSONX_IAM_URL: `${target.url}/token/ibm` } });
  try {
    const store = async (name: string, values: object) => {
      const body = { credential_name: name, credential_values: values, credential_info: { custom_llm_provider: name } };
      expect((await appWithStoredKeys.call('POST', '/credentials', body)).status).toBe(200);
    };
    const keys = { aws_access_key_id: 'AKSTORED', aws_secret_access_key: 's', aws_region_name: 'eu-central-1' };
    await store('bedrock', { ...keys, api_base: `${target.url}/stored` });
    await store('watsonx', { api_key: 'stored-key', api_base: `${target.url}/wx` });
    await sendAs(appWithStoredKeys, appWithStoredKeys.adminKey, { path: '/bedrock/model/m/x' });
    expect(lastRequest()?.headers.authorization).toMatch(
      /Credential=AKSTORED\/\d{8}\/eu-central-1\/bedrock\/aws4_request/,
    );
    await sendAs(appWithStoredKeys, appWithStoredKeys.adminKey, { path: '/watsonx/ml/v1/x' });
    expect(lastRequest()).toMatchObject({ path: '/wx/ml/v1/x', headers: { authorization: 'Bearer ibm-token' } });
  } finally {
    await appWithStoredKeys.stop();
  }
});

it('the path selects the host of an API at Bedrock and at Azure', () => {
  const bedrock = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
  expect(locatedBase(bedrock, 'model/m/converse')).toBe(bedrock);
  expect(locatedBase(bedrock, 'knowledgebases/k/retrieve')).toBe(
    'https://bedrock-agent-runtime.eu-west-1.amazonaws.com',
  );
  expect(locatedBase(bedrock, 'foundation-models')).toBe('https://bedrock.eu-west-1.amazonaws.com');
  const azure = 'https://westeurope.api.cognitive.microsoft.com';
  expect(locatedBase(azure, 'speech/recognition/x')).toBe('https://westeurope.stt.speech.microsoft.com');
  expect(locatedBase(azure, 'speechtotext/transcriptions:transcribe')).toBe(azure);
  expect(locatedBase('https://own.example', 'speech/recognition/x')).toBe('https://own.example');
});

const HOSTILE = ['..%2f..%2fadmin', '..;/x', 'a//b', 'a%00b', 'a%5cb', '%252e%252e%252fx', 'a%0d%0ahost:x'];

it.each([
  'gigachat',
  'watsonx',
  'milvus',
  'tinyfish',
  'azure_speech',
  'eu.assemblyai',
  'comprehendmedical',
  'transcribe',
])('/%s forwards no path outside of its base address', async (prefix) => {
  const count = target.received.length;
  for (const path of HOSTILE)
    expect((await sendAs(app, app.adminKey, { method: 'POST', path: `/${prefix}/${path}`, body: '{}' })).status).toBe(
      400,
    );
  expect(target.received).toHaveLength(count);
  echoRequests(target);
});
