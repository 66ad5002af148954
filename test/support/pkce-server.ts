import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Server with the login by PKCE (RFC 7636). Every renewal replaces the refresh token. */
export interface PkceServer {
  readonly url: string;
  /** Lifetime of issued keys, in s. */
  lifetime: number;
  /** Status of `/revoke`. */
  revocationStatus: number;
  /** Members that replace members of the discovery document. */
  document: Readonly<Record<string, unknown>>;
  /** Refresh tokens that were revoked. */
  readonly revoked: readonly string[];
  /** Keys in the order in which they were issued. */
  readonly issued: readonly string[];
  stop(): void;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export async function startPkceServer(): Promise<PkceServer> {
  const codes = new Map<
    string,
    { readonly challenge: string; readonly redirectUri: string; readonly clientId: string }
  >();
  const redirects = new Map<string, string>();
  const refreshTokens = new Set<string>();
  const revoked: string[] = [];
  const issued: string[] = [];
  const state = { lifetime: 3_600, revocationStatus: 200, document: {} };

  const answer = (response: ServerResponse, status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const invalid = (response: ServerResponse, reason: string): void =>
    answer(response, 400, { error: 'invalid_grant', error_description: reason });

  function issue(response: ServerResponse): void {
    const [key, refresh] = [`sk-issued-${issued.length}-0123456789abcdef`, `refresh-${issued.length}`];
    issued.push(key);
    refreshTokens.add(refresh);
    const shared = { token_type: 'Bearer', user_id: 'u1', team_id: 't1' };
    answer(response, 200, { ...shared, access_token: key, refresh_token: refresh, expires_in: state.lifetime });
  }

  function exchange(form: URLSearchParams, response: ServerResponse): void {
    if (form.get('grant_type') === 'refresh_token')
      return refreshTokens.delete(form.get('refresh_token') ?? '') ? issue(response) : invalid(response, 'used');
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || code.challenge !== challenge || code.clientId !== form.get('client_id'))
      return invalid(response, 'the code is not valid');
    if (code.redirectUri !== form.get('redirect_uri')) return invalid(response, 'the redirect address differs');
    issue(response);
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const [clientId, redirectUri] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? ''];
    if (redirects.get(clientId) !== redirectUri || query.get('code_challenge_method') !== 'S256')
      return answer(response, 400, { error: 'invalid_request' });
    const code = `code-${codes.size}`;
    codes.set(code, { challenge: query.get('code_challenge') ?? '', redirectUri, clientId });
    const target = new URL(redirectUri);
    target.searchParams.set('code', code);
    target.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: target.href }).end();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '', url);
    if (target.pathname === '/.well-known/litellm-cli-auth') {
      const endpoints = ['authorize', 'token', 'register', 'revoke'].map((name) => `${url}/${name}`);
      const [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint] = endpoints;
      const named = { authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint };
      return answer(response, 200, { contract_version: 1, issuer: url, resource: url, ...named, ...state.document });
    }
    if (target.pathname === '/authorize') return authorize(target.searchParams, response);
    const body = await bodyOf(request);
    if (target.pathname === '/register') {
      const [redirectUri] = (JSON.parse(body) as { redirect_uris: string[] }).redirect_uris;
      const clientId = `client-${redirects.size}`;
      redirects.set(clientId, redirectUri ?? '');
      return answer(response, 201, { client_id: clientId });
    }
    if (target.pathname === '/token') return exchange(new URLSearchParams(body), response);
    if (target.pathname === '/revoke') {
      if (state.revocationStatus === 200) revoked.push(new URLSearchParams(body).get('token') ?? '');
      return answer(response, state.revocationStatus, {});
    }
    if (target.pathname === '/v1/models' || target.pathname === '/models') {
      const key = issued.at(-1);
      const isAllowed = key !== undefined && request.headers.authorization === `Bearer ${key}`;
      return answer(response, isAllowed ? 200 : 401, isAllowed ? { data: [] } : { error: { message: 'refused' } });
    }
    answer(response, 404, { detail: 'Not Found' });
  }

  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, {
    url,
    revoked,
    issued,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  });
}
