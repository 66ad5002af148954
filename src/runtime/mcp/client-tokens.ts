import { createHash } from 'node:crypto';
import { collect } from '../../domain/bytes.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { HttpClient } from '../../domain/http.ts';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { McpServerAuth } from '../../domain/mcp-servers/mcp-server.ts';
import { Secret } from '../../domain/secret.ts';
import { createCredentialCache, type ExpiringCredential } from '../credentials/expiring-credential.ts';

type ClientCredentials = Extract<McpServerAuth, { kind: 'client_credentials' }>;

/** Deadline of a token request, in ms. */
const TIMEOUT_MS = 10_000;
/** Maximum bytes of the answer to a token request. */
const ANSWER_BYTES = 64 * 1024;
/** Lifetime of a token without a stated expiry, in ms. */
const DEFAULT_LIFETIME_MS = 3_600_000;
/** Maximum number of clients whose tokens are in memory. The oldest is evicted. */
const CLIENTS_LIMIT = 1_000;

/** Access tokens of the OAuth client credentials flow (RFC 6749, section 4.4). */
export interface ClientTokens {
  /** A token that has not expired. Callers who wait for the same new token share one request. Throws UpstreamFailed. */
  for(credentials: ClientCredentials): Promise<Secret>;
  /** Drops a token that a server refused. */
  evict(credentials: ClientCredentials): void;
}

export function createClientTokens(http: Pick<HttpClient, 'post'>, now: () => number): ClientTokens {
  const tokens = new Map<string, () => Promise<Secret>>();

  async function fetchToken(credentials: ClientCredentials): Promise<ExpiringCredential<Secret>> {
    const { tokenUrl } = credentials;
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const options = { signal: AbortSignal.timeout(TIMEOUT_MS), headersTimeoutMs: TIMEOUT_MS };
    try {
      const answer = await http.post(tokenUrl, headers, Buffer.from(formOf(credentials).toString()), options);
      const bytes = await collect(answer.body, ANSWER_BYTES);
      if (answer.status !== 200) throw refused(`The token endpoint answered with the status ${answer.status}.`);
      if (bytes === null) throw refused('The answer of the token endpoint is too large.');
      return tokenOf(JSON.parse(Buffer.from(bytes).toString('utf8')), now());
    } catch (cause) {
      if (cause instanceof UpstreamFailed) throw cause;
      throw refused('The token endpoint cannot be reached, or its answer is not valid.', cause);
    }
  }

  return {
    async for(credentials) {
      const key = keyOf(credentials);
      let token = tokens.get(key);
      if (token === undefined) {
        token = createCredentialCache(() => fetchToken(credentials), now);
        tokens.set(key, token);
        evictOldest(tokens, CLIENTS_LIMIT);
      }
      return await token();
    },
    evict(credentials) {
      tokens.delete(keyOf(credentials));
    },
  };
}

/** Key of a client. The secret is hashed. */
const keyOf = ({ tokenUrl, clientId, clientSecret, scopes, audience }: ClientCredentials): string =>
  createHash('sha256')
    .update(JSON.stringify([tokenUrl, clientId, clientSecret.reveal(), scopes, audience]))
    .digest('base64');

const refused = (message: string, cause?: unknown): UpstreamFailed =>
  new UpstreamFailed(message, { provider: 'mcp', upstreamStatus: null, upstreamCode: 'token' }, { cause });

function formOf({ clientId, clientSecret, scopes, audience }: ClientCredentials): URLSearchParams {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret.reveal(),
  });
  if (scopes.length > 0) form.set('scope', scopes.join(' '));
  if (audience !== null) form.set('audience', audience);
  return form;
}

function tokenOf(answer: unknown, nowMs: number): ExpiringCredential<Secret> {
  const fields: JsonObject = isJsonObject(answer) ? answer : {};
  const { access_token: token, expires_in: seconds } = fields;
  if (typeof token !== 'string' || token === '') throw refused('The answer of the token endpoint has no access_token.');
  const lifetimeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : DEFAULT_LIFETIME_MS;
  return { value: new Secret(token), until: nowMs + lifetimeMs };
}
