import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from '../context.ts';
import { CommandFailure, HttpFailure } from '../failure.ts';
import type { Renewal } from '../files/login-file.ts';
import { createClient } from '../server/client.ts';
import { plain } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { textOrNull } from '../values.ts';
import { openBrowser } from './browser.ts';
import { type IssuedTokens, postForm, readTokens } from './renewal.ts';

const CALLBACK_DEADLINE_MS = 300_000;
const CALLBACK_PATH = '/callback';

/** Endpoints of a server for the login with PKCE (RFC 7636). */
interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly register: string;
  readonly revoke: string | null;
  readonly resource: string;
}

interface PkceLogin {
  readonly tokens: IssuedTokens;
  readonly renewal: Renewal;
}

/** Reads an endpoint. Throws CommandFailure for an address of another server, which must get no codes and tokens. */
function endpoint(baseUrl: string, document: JsonObject, name: string): string {
  const text = textOrNull(document[name]);
  if (text === null) throw new CommandFailure(`the server names no ${name}`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.origin !== new URL(baseUrl).origin)
    throw new CommandFailure(`${name} '${plain(text)}' is not an address of ${baseUrl}`);
  return text;
}

async function discover(baseUrl: string): Promise<Endpoints> {
  const client = createClient(baseUrl, null);
  const document = await client.send('GET', '/.well-known/litellm-cli-auth').catch((error: unknown) => {
    if (error instanceof HttpFailure)
      throw new CommandFailure(`${baseUrl} offers no login with --pkce (HTTP ${error.status})`);
    throw error;
  });
  const members = jsonObjectOf(document);
  if (members['contract_version'] !== 1) throw new CommandFailure('the server has another version of the login');
  return {
    authorize: endpoint(baseUrl, members, 'authorization_endpoint'),
    token: endpoint(baseUrl, members, 'token_endpoint'),
    register: endpoint(baseUrl, members, 'registration_endpoint'),
    revoke: members['revocation_endpoint'] === undefined ? null : endpoint(baseUrl, members, 'revocation_endpoint'),
    resource: textOrNull(members['resource']) ?? baseUrl,
  };
}

async function register(endpointUrl: string, redirectUri: string): Promise<string> {
  const url = new URL(endpointUrl);
  const answer = await createClient(url.origin, null).send('POST', url.pathname, {
    json: {
      client_name: 'litellm-cli',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  });
  const id = textOrNull(jsonObjectOf(answer)['client_id']);
  if (id === null) throw new CommandFailure('the server answered without a client_id');
  return id;
}

function answerPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${text}\n`);
}

const [OK, BAD_REQUEST, NOT_FOUND] = [200, 400, 404];

/** HTTP server on this machine that receives the code of the sign-in from the browser. */
interface Callback {
  readonly redirectUri: string;
  readonly code: Promise<string>;
  close(): void;
}

async function listen(state: string): Promise<Callback> {
  const server = createServer();
  // A set compares hashes, so the response time does not tell how many characters of a guess are right.
  const states = new Set([state]);
  const code = new Promise<string>((resolve, reject) => {
    server.on('request', ({ url = '', method }, response) => {
      // Any page in the browser can send requests here, also with an invalid URL.
      const target = URL.parse(url, 'http://127.0.0.1');
      if (method !== 'GET' || target?.pathname !== CALLBACK_PATH) return answerPage(response, NOT_FOUND, 'Not found.');
      const query = target.searchParams;
      if (!states.has(query.get('state') ?? ''))
        return answerPage(response, BAD_REQUEST, 'This command did not start that sign-in.');
      const found = query.get('code');
      if (found) {
        answerPage(response, OK, 'Signed in. You may close this page.');
        return resolve(found);
      }
      answerPage(response, BAD_REQUEST, 'Not signed in. The command line shows the reason.');
      reject(new CommandFailure(plain(query.get('error_description') ?? query.get('error') ?? 'no code was given')));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { redirectUri: `http://127.0.0.1:${port}${CALLBACK_PATH}`, code, close: () => server.close() };
}

/** Resolves to the code. Rejects at the deadline, and when the signal aborts. */
function codeBeforeDeadline(code: Promise<string>, signal: AbortSignal): Promise<string> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(CALLBACK_DEADLINE_MS)]);
  const aborted = new Promise<never>((_resolve, reject) => {
    ended.addEventListener('abort', () =>
      reject(signal.aborted ? (signal.reason as Error) : new CommandFailure('the sign-in timed out')),
    );
  });
  return Promise.race([code, aborted]);
}

/** Signs in with an authorization code and PKCE through the browser of the system. Throws CommandFailure. */
export async function signInByPkce({ host, baseUrl }: Context, signal: AbortSignal): Promise<PkceLogin> {
  const endpoints = await discover(baseUrl);
  const state = randomBytes(24).toString('base64url');
  const verifier = randomBytes(48).toString('base64url');
  const callback = await listen(state);
  // Without a handler, a rejection before `codeBeforeDeadline` would end the process.
  callback.code.catch(() => {});
  try {
    const clientId = await register(endpoints.register, callback.redirectUri);
    const url = new URL(endpoints.authorize);
    const query = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: callback.redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
      resource: endpoints.resource,
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    host.terminal.print(`Opening browser to: ${url.href}`);
    host.terminal.print('Approve the sign-in in your browser. Waiting...');
    openBrowser(host, url.href);
    const code = await codeBeforeDeadline(callback.code, signal);
    const tokens = readTokens(
      await postForm(endpoints.token, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback.redirectUri,
        client_id: clientId,
        code_verifier: verifier,
        resource: endpoints.resource,
      }),
    );
    const { token: tokenEndpoint, revoke: revocationEndpoint, resource } = endpoints;
    return {
      tokens,
      renewal: { refreshToken: tokens.refreshToken, clientId, tokenEndpoint, revocationEndpoint, resource },
    };
  } finally {
    callback.close();
  }
}
