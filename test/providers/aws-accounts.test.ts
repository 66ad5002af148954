import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AwsAccount } from '../../src/domain/chat/aws-accounts.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createAwsAccounts } from '../../src/runtime/credentials/aws-accounts.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

/** Fake credential services of AWS: token service (STS), and the endpoints of containers and machines. */
let aws: FaultServer;
let folder: string;
/** Number of requests to the fake services before the current test. */
let callsBefore = 0;

beforeAll(async () => {
  aws = await startFaultServer();
});
afterAll(() => aws.stop());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aws-'));
  // Removes the AWS identity of the machine that runs the tests.
  for (const name of Object.keys(process.env).filter((variable) => variable.startsWith('AWS_')))
    vi.stubEnv(name, undefined);
  vi.stubEnv('HOME', folder);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  callsBefore = aws.received.length;
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Requests to the fake services in the current test. */
const calls = () => aws.received.slice(callsBefore);

const ROLE = 'arn:aws:iam::123456789012:role/caller';
const FAR_FUTURE = '2100-01-01T00:00:00Z';

function account(overrides: Partial<AwsAccount> = {}): AwsAccount {
  return {
    keys: null,
    profile: null,
    role: null,
    webIdentityToken: null,
    region: 'eu-west-1',
    stsEndpoint: aws.url,
    ...overrides,
  };
}

const KEYS = { accessKeyId: 'AKIDOWN', secretAccessKey: new Secret('own-secret'), sessionToken: null };
const role = (more: object = {}): AwsAccount['role'] => ({ arn: ROLE, sessionName: null, externalId: null, ...more });

/** Credentials of an account, in clear text. */
async function credentialsOf(overrides: Partial<AwsAccount> = {}, accounts = createAwsAccounts()) {
  const { accessKeyId, secretAccessKey, sessionToken } = await accounts.for(account(overrides));
  return [accessKeyId, secretAccessKey.reveal(), sessionToken?.reveal() ?? null];
}

function sendCredentials(response: ServerResponse, action: string, id: string, until = FAR_FUTURE): void {
  response.writeHead(200, { 'content-type': 'text/xml' });
  response.end(`<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>
    <AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${id}-secret</SecretAccessKey>
    <SessionToken>${id}-session</SessionToken><Expiration>${until}</Expiration>
    </Credentials></${action}Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></${action}Response>`);
}

const issueCredentials = (id: string): void =>
  aws.answer((response, _socket, { body }) =>
    sendCredentials(response, new URLSearchParams(body).get('Action') ?? '', id),
  );
/** Credentials that the fake services issue in these tests. */
const ISSUED = ['ASIALENT', 'ASIALENT-secret', 'ASIALENT-session'];

/** A request to the token service, with the key id of its signature. */
function tokenRequest(index = 0) {
  const { body = '', headers = {} } = calls()[index] ?? {};
  const { Action, Version: _version, ...parameters } = Object.fromEntries(new URLSearchParams(body));
  return { Action, ...parameters, signer: /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1] };
}

function writeProfiles(credentials: string, config = ''): void {
  writeFileSync(join(folder, 'credentials'), credentials);
  writeFileSync(join(folder, 'config'), config);
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
}
const profileSection = (name: string, id: string): string =>
  `[${name}]\naws_access_key_id = ${id}\naws_secret_access_key = ${id}-secret\n`;

describe('a role', () => {
  it('is assumed with the keys of the deployment, with session name and external id, once for all calls', async () => {
    issueCredentials('ASIALENT');
    const accounts = createAwsAccounts();
    const overrides = { keys: KEYS, role: role({ sessionName: 'me', externalId: 'ext-1' }) };
    const all = await Promise.all([
      credentialsOf(overrides, accounts),
      credentialsOf(overrides, accounts),
      credentialsOf(overrides, accounts),
    ]);
    expect([...all, await credentialsOf(overrides, accounts)]).toEqual([ISSUED, ISSUED, ISSUED, ISSUED]);
    expect(calls()).toHaveLength(1);
    const { Action, RoleArn, RoleSessionName, ExternalId, signer } = tokenRequest() as Record<string, string>;
    expect({ Action, RoleArn, RoleSessionName, ExternalId, signer }).toEqual({
      Action: 'AssumeRole',
      RoleArn: ROLE,
      RoleSessionName: 'me',
      ExternalId: 'ext-1',
      signer: 'AKIDOWN',
    });
    expect(calls()[0]?.headers.authorization).toContain('/eu-west-1/sts/aws4_request');
  });

  it('is assumed with the identity of the machine: keys of the environment take precedence over its profile', async () => {
    issueCredentials('ASIALENT');
    writeProfiles(profileSection('other', 'AKIDFILE'));
    vi.stubEnv('AWS_PROFILE', 'other');
    expect(await credentialsOf({ role: role() })).toEqual(ISSUED);
    expect(tokenRequest()).toMatchObject({ Action: 'AssumeRole', RoleSessionName: 'lensgate', signer: 'AKIDFILE' });
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDENV');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'env-secret');
    expect(await credentialsOf({ role: role() })).toEqual(ISSUED);
    expect(tokenRequest(1)).toMatchObject({ signer: 'AKIDENV' });
  });

  it('is assumed with a web identity token from any source, without a signature', async () => {
    issueCredentials('ASIALENT');
    writeFileSync(join(folder, 'token'), 'token-in-file\n');
    vi.stubEnv('THE_TOKEN', 'token-in-env');
    vi.stubEnv('THE_PATH', join(folder, 'token'));
    const tokens = [
      'eyJ.own.token',
      join(folder, 'token'),
      `oidc/file/${join(folder, 'token')}`,
      'oidc/env/THE_TOKEN',
      'oidc/env_path/THE_PATH',
    ];
    for (const token of tokens)
      expect(await credentialsOf({ webIdentityToken: new Secret(token), role: role({ sessionName: 'me' }) })).toEqual(
        ISSUED,
      );
    expect(tokens.map((_, index) => tokenRequest(index))).toEqual(
      ['eyJ.own.token', 'token-in-file', 'token-in-file', 'token-in-env', 'token-in-file'].map((WebIdentityToken) => ({
        Action: 'AssumeRoleWithWebIdentity',
        RoleArn: ROLE,
        RoleSessionName: 'me',
        WebIdentityToken,
        signer: undefined,
      })),
    );
  });

  it('that the token of the pod already has is not assumed again', async () => {
    issueCredentials('ASIALENT');
    writeFileSync(join(folder, 'token'), 'pod-token');
    vi.stubEnv('AWS_ENDPOINT_URL_STS', aws.url);
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'token'));
    vi.stubEnv('AWS_ROLE_ARN', ROLE);
    expect(await credentialsOf({ role: role() })).toEqual(ISSUED);
    expect(calls().map((_, index) => tokenRequest(index).Action)).toEqual(['AssumeRoleWithWebIdentity']);
    const otherRole = 'arn:aws:iam::123456789012:role/other';
    expect(await credentialsOf({ role: role({ arn: otherRole }) })).toEqual(ISSUED);
    expect([tokenRequest(1), tokenRequest(2)]).toMatchObject([
      { Action: 'AssumeRoleWithWebIdentity', WebIdentityToken: 'pod-token', RoleArn: ROLE },
      { Action: 'AssumeRole', RoleArn: otherRole, signer: 'ASIALENT' },
    ]);
  });

  it('is assumed again before its credentials expire, in the background', async () => {
    let now = 0;
    let issued = 0;
    aws.answer((response, _socket, { body }) => {
      issued += 1;
      // The first credentials expire at FAR_FUTURE, the next ones a hundred years later.
      sendCredentials(
        response,
        new URLSearchParams(body).get('Action') ?? '',
        `ASIA${issued}`,
        `2${issued}00-01-01T00:00:00Z`,
      );
    });
    const accounts = createAwsAccounts({ now: () => now });
    expect((await credentialsOf({ keys: KEYS, role: role() }, accounts))[0]).toBe('ASIA1');
    now = Date.parse(FAR_FUTURE) - 60_000;
    expect((await credentialsOf({ keys: KEYS, role: role() }, accounts))[0]).toBe('ASIA1');
    await expect.poll(async () => (await credentialsOf({ keys: KEYS, role: role() }, accounts))[0]).toBe('ASIA2');
  });
});

describe('a profile', () => {
  it('is read from the shared files, with the role that it names', async () => {
    issueCredentials('ASIALENT');
    vi.stubEnv('AWS_ENDPOINT_URL_STS', aws.url);
    writeProfiles(
      `${profileSection('default', 'AKIDDEFAULT')}${profileSection('mine', 'AKIDMINE')}`,
      `[profile up]\nrole_arn = ${ROLE}\nsource_profile = mine\n`,
    );
    expect(await credentialsOf({ profile: 'mine' })).toEqual(['AKIDMINE', 'AKIDMINE-secret', null]);
    expect(await credentialsOf()).toEqual(['AKIDDEFAULT', 'AKIDDEFAULT-secret', null]);
    expect(await credentialsOf({ profile: 'up' })).toEqual(ISSUED);
    expect(tokenRequest()).toMatchObject({ Action: 'AssumeRole', RoleArn: ROLE, signer: 'AKIDMINE' });
  });

  it('is read again after 15 minutes, because other tools renew its keys', async () => {
    let now = 0;
    const accounts = createAwsAccounts({ now: () => now });
    writeProfiles(profileSection('mine', 'AKIDFIRST'));
    expect((await credentialsOf({ profile: 'mine' }, accounts))[0]).toBe('AKIDFIRST');
    writeProfiles(profileSection('mine', 'AKIDSECOND'));
    expect((await credentialsOf({ profile: 'mine' }, accounts))[0]).toBe('AKIDFIRST');
    now = 15 * 60_000;
    expect((await credentialsOf({ profile: 'mine' }, accounts))[0]).toBe('AKIDSECOND');
  });

  it('that is missing fails the call and is not replaced by another identity', async () => {
    writeProfiles(profileSection('default', 'AKIDDEFAULT'));
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDENV');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'env-secret');
    await expect(credentialsOf({ profile: 'absent' })).rejects.toMatchObject({ name: 'CloudRefused' });
  });
});

describe('the machine', () => {
  const METADATA = { AccessKeyId: 'ASIALENT', SecretAccessKey: 'ASIALENT-secret', Token: 'ASIALENT-session' };

  it('gives its role, requested with a metadata token', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined);
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', aws.url);
    aws.answer((response, _socket, { method, path, headers }) => {
      const isAllowed = headers['x-aws-ec2-metadata-token'] === 'imds-token';
      response.writeHead(method === 'PUT' || isAllowed ? 200 : 401);
      if (method === 'PUT') response.end('imds-token');
      else if (path.endsWith('/security-credentials/')) response.end('the-role');
      else response.end(JSON.stringify({ ...METADATA, Code: 'Success', Expiration: FAR_FUTURE }));
    });
    expect(await credentialsOf()).toEqual(ISSUED);
    expect(calls().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/the-role',
    ]);
  });

  it.each(['AWS_CONTAINER_AUTHORIZATION_TOKEN', 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'])(
    'may be a container with a credentials endpoint: %s',
    async (variable) => {
      writeFileSync(join(folder, 'token'), 'pod-token');
      vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${aws.url}/v1/credentials`);
      vi.stubEnv(variable, variable.endsWith('FILE') ? join(folder, 'token') : 'pod-token');
      aws.answer((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...METADATA, Expiration: FAR_FUTURE }));
      });
      expect(await credentialsOf()).toEqual(ISSUED);
      expect(calls().map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ['/v1/credentials', 'pod-token'],
      ]);
    },
  );
});

describe('an account without valid credentials', () => {
  it('fails with a message and reason without the secret, and AWS is not called again for every request', async () => {
    aws.answer((response) => {
      response.writeHead(403, { 'content-type': 'text/xml' });
      response.end(
        '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>own-secret is not you&#10;said</Message></Error></ErrorResponse>',
      );
    });
    const refusals: unknown[] = [];
    const accounts = createAwsAccounts({ refused: (about) => refusals.push(about) });
    await expect(credentialsOf({ keys: KEYS, role: role() }, accounts)).rejects.toMatchObject({
      name: 'CloudRefused',
      message: 'AWS gave no credentials for this deployment.',
      cause: { name: 'AccessDenied', message: 'own-secret is not you\nsaid' },
    });
    // The reason has no secret, and only the first line of the message.
    expect(refusals).toEqual([{ profile: null, role: ROLE, reason: 'AccessDenied: <secret> is not you' }]);
    await expect(credentialsOf({ keys: KEYS, role: role() }, accounts)).rejects.toThrow('no credentials');
    expect(calls()).toHaveLength(1);
  });

  it.each([
    ['no identity', {}, 'AWS gave no credentials for this deployment.'],
    [
      'a token without a role',
      { webIdentityToken: new Secret('t') },
      'aws_web_identity_token has no effect without aws_role_name.',
    ],
    [
      'a token of an unknown kind',
      { webIdentityToken: new Secret('oidc/circleci/'), role: role() },
      'aws_web_identity_token takes oidc/file/…, oidc/env/…, oidc/env_path/…, a path or a token.',
    ],
    [
      'a variable that is not set',
      { webIdentityToken: new Secret('oidc/env/NOT_SET'), role: role() },
      'The variable that aws_web_identity_token names is not set.',
    ],
    [
      'a file that is not there',
      { webIdentityToken: new Secret('/nowhere/token'), role: role() },
      'AWS gave no credentials for this deployment.',
    ],
  ])('is refused: %s', async (_name, overrides, message) => {
    await expect(credentialsOf(overrides)).rejects.toMatchObject({ name: 'CloudRefused', message });
    expect(calls()).toHaveLength(0);
  });
});
