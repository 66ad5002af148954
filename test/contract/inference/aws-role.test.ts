import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Server for both Bedrock and AWS STS. */
let aws: FaultServer;
let app: TestApp;

const CHAT = { messages: [{ role: 'user', content: 'x' }] };
const ISSUED_CREDENTIALS = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
  <AccessKeyId>ASIALENT</AccessKeyId><SecretAccessKey>lent-secret</SecretAccessKey><SessionToken>lent-session</SessionToken>
  <Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
const ACCESS_DENIED = `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not arn:r2</Message></Error></ErrorResponse>`;
const ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 2 },
};

beforeAll(async () => {
  aws = await startFaultServer();
  aws.answer((response, _socket, { path, body }) => {
    if (path.startsWith('/model/')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(ANSWER));
      return;
    }
    const mayAssumeRole = body.includes('arn%3Ar1');
    response.writeHead(mayAssumeRole ? 200 : 403, { 'content-type': 'text/xml' });
    response.end(mayAssumeRole ? ISSUED_CREDENTIALS : ACCESS_DENIED);
  });
  const deployment = (aws_role_name: string) => ({
    model_name: aws_role_name,
    litellm_params: {
      model: 'bedrock/us-east-1/up-1',
      api_base: aws.url,
      aws_access_key_id: 'AKIDOWN',
      aws_secret_access_key: 'os.environ/THE_SECRET',
      aws_role_name,
      aws_sts_endpoint: aws.url,
    },
  });
  app = await startApp({
    config: { model_list: [deployment('arn:r1'), deployment('arn:r2')] },
    env: { THE_SECRET: 'own-secret' },
  });
});

afterAll(async () => {
  await app.stop();
  await aws.stop();
});

it('inference.chatCompletions 200: an AWS role is assumed once, and its credentials sign the calls', async () => {
  for (const _ of [1, 2]) {
    const response = await app.call('POST', '/v1/chat/completions', { ...CHAT, model: 'arn:r1' });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { choices: [{ message: { content: 'Hi' } }] },
    ]);
  }
  const [assumeRole, ...calls] = aws.received;
  expect(assumeRole?.headers.authorization).toContain('Credential=AKIDOWN/');
  expect(calls.map(({ path, headers }) => [path, headers['x-amz-security-token']])).toEqual([
    ['/model/up-1/converse', 'lent-session'],
    ['/model/up-1/converse', 'lent-session'],
  ]);
  expect(calls[1]?.headers.authorization).toMatch(/Credential=ASIALENT\/\d{8}\/us-east-1\/bedrock\/aws4_request/);
});

it('inference.chatCompletions 500: an AWS role that cannot be assumed', async () => {
  const response = await app.call('POST', '/v1/chat/completions', { ...CHAT, model: 'arn:r2' });
  expect([response.status, await response.json()]).toEqual([
    500,
    {
      error: {
        message:
          'litellm.AuthenticationError: AuthenticationError: BedrockException - No credentials for AWS: the credentials of this deployment are invalid or missing.',
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    },
  ]);
});
