import type { JsonObject } from '../../domain/json-object.ts';
import { createHash, randomUUID } from 'node:crypto';
import { collect } from '../../domain/bytes.ts';
import { CloudRefused } from '../../domain/chat/cloud-tokens.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { HttpClient } from '../../domain/http.ts';
import type { CloudIdentity, IssuedTokens } from '../../domain/pass-through/forwarded.ts';
import { Secret } from '../../domain/secret.ts';
import { createCredentialCache, type ExpiringCredential } from './expiring-credential.ts';

type Issued = Extract<CloudIdentity, { kind: 'issued' }>;

/** Deadline of a token request, in ms. */
const TIMEOUT_MS = 10_000;
/** Maximum bytes of the answer to a token request. */
const ANSWER_BYTES = 64 * 1024;
/** Maximum number of keys whose tokens are in memory. The oldest is evicted. */
const KEYS_LIMIT = 100;
/** Lifetime of a token without a stated expiry, in ms. */
const DEFAULT_LIFETIME_MS = 600_000;
const GRANT_TYPE = 'urn:ibm:params:oauth:grant-type:apikey';

/**
 * Access tokens of IBM Cloud and GigaChat, which are requested with an API key and expire. Error messages contain no
 * credential.
 */
export function createIssuedTokens(http: Pick<HttpClient, 'post'>, now: () => number): IssuedTokens {
  const credentials = new Map<string, () => Promise<Secret>>();

  async function fetchCredential(identity: Issued): Promise<ExpiringCredential<Secret>> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const { headers, body } = requestOf(identity);
      const answer = await http.post(identity.url, headers, Buffer.from(body), {
        signal,
        headersTimeoutMs: TIMEOUT_MS,
      });
      const bytes = await collect(answer.body, ANSWER_BYTES);
      if (answer.status !== 200) throw new CloudRefused(refusal(answer.status));
      if (bytes === null) throw new CloudRefused(`The answer of the issuer has more than ${ANSWER_BYTES} bytes.`);
      return tokenOf(JSON.parse(Buffer.from(bytes).toString('utf8')), now());
    } catch (cause) {
      if (cause instanceof CloudRefused) throw cause;
      throw new CloudRefused('The issuer of access tokens cannot be reached, or its answer is not valid.', { cause });
    }
  }

  return {
    async for(identity) {
      const { form, key, scope, url } = identity;
      const name = createHash('sha256')
        .update(JSON.stringify([form, url, scope, key.reveal()]))
        .digest('base64');
      let credential = credentials.get(name);
      if (credential === undefined) {
        credential = createCredentialCache(() => fetchCredential(identity), now);
        credentials.set(name, credential);
        evictOldest(credentials, KEYS_LIMIT);
      }
      return await credential();
    },
  };
}

const refusal = (status: number): string =>
  `The issuer of access tokens refused the key of the provider with status ${status}.`;

function requestOf({ form, key, scope }: Issued) {
  const common = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  if (form === 'ibm') {
    const body = new URLSearchParams({ grant_type: GRANT_TYPE, apikey: key.reveal() });
    return { headers: common, body: body.toString() };
  }
  const headers = { ...common, authorization: `Basic ${key.reveal()}`, rquid: randomUUID() };
  return { headers, body: new URLSearchParams(scope === null ? {} : { scope }).toString() };
}

/** The token of an answer. Throws CloudRefused. */
function tokenOf(answer: unknown, nowMs: number): ExpiringCredential<Secret> {
  const fields: JsonObject = typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const { access_token: token } = fields;
  if (typeof token !== 'string' || token === '') throw new CloudRefused('The issuer of access tokens gave none.');
  return { value: new Secret(token), until: expiryOf(fields, nowMs) };
}

/** Expiry of a token in ms. IBM states the lifetime in seconds, GigaChat the expiry in ms. */
function expiryOf({ expires_in: lifetimeSeconds, expires_at: expiryMs }: JsonObject, nowMs: number): number {
  if (typeof lifetimeSeconds === 'number') return nowMs + lifetimeSeconds * 1000;
  return typeof expiryMs === 'number' ? expiryMs : nowMs + DEFAULT_LIFETIME_MS;
}
