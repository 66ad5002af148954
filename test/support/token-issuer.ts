import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'the-gateway';

type SigningKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** Differences from a valid token. */
export interface TokenOverrides {
  readonly alg?: string;
  readonly kid?: string | null;
  readonly key?: SigningKey | Uint8Array;
  readonly issuer?: string;
  readonly audience?: string;
  /** Expiry in seconds from now. Null for a token without an expiry. */
  readonly expiresIn?: number | null;
  /** In seconds from now, like `issuedAt`. */
  readonly notBefore?: number;
  readonly issuedAt?: number;
}

/** Starts an issuer with a signing key of each kind, and the server of its key set (JWKS). */
export async function startIssuer(kinds: readonly string[] = ['RS256', 'ES256', 'EdDSA']) {
  const pairs = new Map<string, Awaited<ReturnType<typeof generateKeyPair>>>();
  const keys: object[] = [];
  async function addKey(alg: string, kid = `key-${alg}`): Promise<void> {
    const pair = await generateKeyPair(alg, { extractable: true });
    pairs.set(kid, pair);
    keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' });
  }
  for (const alg of kinds)
    // oxlint-disable-next-line no-await-in-loop -- the order of the keys matters
    await addKey(alg);
  const state = {
    reads: 0,
    status: 200,
    /** Responses with the key set wait for this promise. */
    held: null as Promise<void> | null,
    /** Response body instead of the key set. */
    text: null as string | null,
  };
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: ISSUER, jwks_uri: `${addressOf()}/keys` }));
      return;
    }
    state.reads += 1;
    const status = state.status;
    void (state.held ?? Promise.resolve()).then(() => {
      response.statusCode = status;
      response.end(status === 200 ? (state.text ?? JSON.stringify({ keys })) : 'no');
    });
  });
  const addressOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    state,
    addKey,
    /** Removes a key from the key set. It can still sign tokens. */
    removeKey(kid: string): void {
      keys.splice(0, keys.length, ...keys.filter((key) => !('kid' in key && key.kid === kid)));
    },
    url: `${addressOf()}/keys`,
    discoveryUrl: `${addressOf()}/.well-known/openid-configuration`,
    publicKeyOf: (kid: string) => exportJWK(pairs.get(kid)?.publicKey ?? new Uint8Array(1)),
    token(claims: JWTPayload = {}, overrides: TokenOverrides = {}): Promise<string> {
      const { alg = 'RS256', kid = `key-${alg}`, issuer = ISSUER, audience = AUDIENCE, expiresIn = 300 } = overrides;
      const now = Math.floor(Date.now() / 1000);
      // A token without a key id is signed with the RS256 key.
      const key = overrides.key ?? pairs.get(kid ?? 'key-RS256')?.privateKey;
      if (key === undefined) throw new Error(`No key ${kid}.`);
      const times = {
        iat: now + (overrides.issuedAt ?? 0),
        ...(expiresIn === null ? {} : { exp: now + expiresIn }),
        ...(overrides.notBefore === undefined ? {} : { nbf: now + overrides.notBefore }),
      };
      return new SignJWT({ iss: issuer, aud: audience, ...times, ...claims })
        .setProtectedHeader({ alg, typ: 'JWT', ...(kid === null ? {} : { kid }) })
        .sign(key);
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** Environment variables of a server that accepts tokens of an issuer. */
export const tokenEnvironment = (issuer: Pick<Issuer, 'url'>): Record<string, string> => ({
  JWT_PUBLIC_KEY_URL: issuer.url,
  JWT_AUDIENCE: AUDIENCE,
  JWT_ISSUER: ISSUER,
});
