import { expect, it } from 'vitest';
import {
  allowsRedirect,
  CLIENT_SECONDS,
  type ClientMetadata,
  registeredClient,
} from '../../../src/domain/command-line-sessions/login-client.ts';
import { OauthFailure } from '../../../src/domain/command-line-sessions/oauth-failure.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createSealedClients } from '../../../src/runtime/credentials/sealed-clients.ts';

const metadata = (change: Partial<ClientMetadata> = {}): ClientMetadata => ({
  name: 'litellm-cli',
  redirectUris: ['http://127.0.0.1:80/callback'],
  grantTypes: [],
  responseTypes: [],
  authMethod: null,
  ...change,
});

const faultOf = (change: Partial<ClientMetadata>): string | null => {
  try {
    registeredClient(metadata(change));
    return null;
  } catch (error) {
    if (error instanceof OauthFailure) return error.fault;
    throw error;
  }
};

it.each([
  'http://127.0.0.1',
  'http://127.0.0.1/',
  'http://127.0.0.1:1/callback',
  'http://localhost:65535/a/b?c=d&e=%20',
  'http://[::1]:4000/callback',
  `http://127.0.0.1/${'a'.repeat(238)}`,
])('registers the loopback redirect URI %s', (uri) => {
  expect(faultOf({ redirectUris: [uri] })).toBeNull();
});

it.each([
  '',
  'http://127.0.0.1:0/callback',
  'http://127.0.0.1:65536/callback',
  'http://127.0.0.2/callback',
  'http://127.0.0.1.evil.example.org/callback',
  'http://127.0.0.1:4000@evil.example.org/callback',
  'http://user@127.0.0.1/callback',
  'http://localhost.evil.example.org/',
  'http://[::2]/callback',
  'http://[::ffff:127.0.0.1]/callback',
  'https://127.0.0.1/callback',
  'HTTP://127.0.0.1/callback',
  'http://127.0.0.1/callback#fragment',
  'http://127.0.0.1\\@evil.example.org/',
  'http://127.0.0.1/a b',
  'http://127.0.0.1/\r\nset-cookie:x',
  'http://127.0.0.1/"',
  'http://127.0.0.1/callback\n',
  'com.example.app:/callback',
  'javascript:alert(1)',
  `http://127.0.0.1/${'a'.repeat(239)}`,
])('refuses the redirect URI %j', (uri) => {
  expect(faultOf({ redirectUris: [uri] })).toBe('invalid_redirect_uri');
});

it('has one to five redirect URIs, and a name of 1 to 100 visible characters', () => {
  const five = Array.from({ length: 5 }, (_, index) => `http://127.0.0.1/${index}`);
  expect(faultOf({ redirectUris: five })).toBeNull();
  expect(faultOf({ redirectUris: [...five, 'http://127.0.0.1/x'] })).toBe('invalid_redirect_uri');
  expect(faultOf({ redirectUris: [] })).toBe('invalid_redirect_uri');
  expect(faultOf({ name: 'x'.repeat(100) })).toBeNull();
  for (const name of ['', ' ', 'x'.repeat(101), 'a\nb', 'a\u202Eb', '\uD800'])
    expect(faultOf({ name })).toBe('invalid_client_metadata');
  expect(registeredClient(metadata({ name: null })).name).toBe('unnamed client');
});

it('compares redirect URIs without their ports', () => {
  const client = { name: 'c', redirectUris: ['http://127.0.0.1:5/callback', 'http://[::1]'] };
  for (const uri of ['http://127.0.0.1/callback', 'http://127.0.0.1:6/callback', 'http://[::1]:7/', 'http://[::1]'])
    expect([uri, allowsRedirect(client, uri)]).toEqual([uri, true]);
  for (const uri of [
    'http://localhost/callback',
    'http://127.0.0.1:5/callback/',
    'http://127.0.0.1:5/callback?x',
    'http://127.0.0.1:5/Callback',
    'http://127.0.0.1:5/x/../callback',
    'http://127.0.0.1:5/%63allback',
  ])
    expect([uri, allowsRedirect(client, uri)]).toEqual([uri, false]);
});

it('a client id contains its registration for 90 days, also after a change of the salt key', () => {
  let nowMs = 1_000;
  const clock = { now: () => new Date(nowMs) };
  const [one, two, three] = ['one', 'two', 'three'].map((text) => new Secret(text)) as [Secret, Secret, Secret];
  const clients = createSealedClients({ current: one, former: [] }, clock);
  const client = { name: 'litellm-cli', redirectUris: ['http://127.0.0.1:1/callback'] };
  const { id, issuedAt } = clients.issue(client);
  expect(issuedAt).toEqual(new Date(1_000));
  expect(id).not.toContain('litellm');
  expect(createSealedClients({ current: two, former: [one] }, clock).find(id)).toEqual(client);
  expect(createSealedClients({ current: two, former: [three] }, clock).find(id)).toBeNull();
  for (const other of ['', 'llm_dcrc_', 'x', id.slice(0, -2), `${id}AA`, id.replace('llm', 'abc'), 'x'.repeat(9_999)])
    expect(clients.find(other)).toBeNull();
  nowMs += CLIENT_SECONDS * 1_000 - 1;
  expect(clients.find(id)).toEqual(client);
  nowMs += 1;
  expect(clients.find(id)).toBeNull();
});

it('the longest registration can be read', () => {
  const clients = createSealedClients({ current: new Secret('one'), former: [] }, { now: () => new Date(0) });
  const redirectUris = Array.from({ length: 5 }, (_, index) => `http://127.0.0.1/${'a'.repeat(237)}${index}`);
  const client = registeredClient(metadata({ name: '漢'.repeat(100), redirectUris }));
  expect(clients.find(clients.issue(client).id)).toEqual(client);
});
