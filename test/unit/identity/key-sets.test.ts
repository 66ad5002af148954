import { exportJWK, type FlattenedJWSInput, generateKeyPair, type JWTHeaderParameters } from 'jose';
import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createKeySets, MIN_READ_INTERVAL_MS, OUTAGE_MS } from '../../../src/runtime/identity/key-sets.ts';

const TTL_SECONDS = 600;
const NO_TOKEN: FlattenedJWSInput = { payload: '', signature: '' };
const header = (kid: string): JWTHeaderParameters => ({ alg: 'ES256', kid });

/** Key sets over a fake `fetch`. */
async function aKeySource(urls: readonly string[] = ['https://one.example/keys']) {
  const { publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const state = { nowMs: 0, reads: [] as string[], isDown: false, kids: ['first'], failures: 0 };
  const documents = new Map<string, () => unknown>();
  async function* bytesOf(value: unknown) {
    yield Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  }
  const sets = createKeySets({
    urls,
    ttlSeconds: TTL_SECONDS,
    async fetch(url) {
      state.reads.push(url);
      if (state.isDown) throw new Error('down');
      const keys = () => ({ keys: state.kids.map((kid) => ({ ...jwk, kid, alg: 'ES256' })) });
      return {
        status: 200,
        body: Object.assign(bytesOf((documents.get(url) ?? keys)()), { cancel: async () => {} }),
      };
    },
    clock: { monotonicMs: () => state.nowMs },
    failed() {
      state.failures += 1;
    },
  });
  /** `found`, `unavailable` with the seconds until the next read, or the name of the error. */
  const find = async (kid: string): Promise<string> => {
    try {
      await sets.keyFor(header(kid), NO_TOKEN);
      return 'found';
    } catch (error) {
      return error instanceof Unavailable ? `unavailable ${error.retryAfterSeconds}` : (error as Error).name;
    }
  };
  return { state, documents, find };
}

describe('key sets', () => {
  it('are read once for concurrent tokens, and again after their TTL', async () => {
    const { state, find } = await aKeySource();
    expect(await Promise.all(Array.from({ length: 20 }, () => find('first')))).toEqual(
      Array.from({ length: 20 }, () => 'found'),
    );
    state.nowMs = TTL_SECONDS * 1000;
    await find('first');
    expect(state.reads).toHaveLength(1);
    state.nowMs += 1;
    await find('first');
    expect(state.reads).toHaveLength(2);
  });

  it('are read again for an unknown key id, at most once in ten seconds', async () => {
    const { state, find } = await aKeySource();
    await find('first');
    state.kids = ['first', 'second'];
    state.nowMs = MIN_READ_INTERVAL_MS - 1;
    expect(await find('second')).toBe('JWKSNoMatchingKey');
    expect(state.reads).toHaveLength(1);
    state.nowMs = MIN_READ_INTERVAL_MS;
    expect(
      await Promise.all([find('second'), ...Array.from({ length: 50 }, (_, index) => find(`x${index}`))]),
    ).toContain('found');
    expect(state.reads).toHaveLength(2);
  });

  it('stay usable for an hour while the address is unavailable, then are unavailable, with a retry time', async () => {
    const { state, find } = await aKeySource();
    await find('first');
    state.isDown = true;
    state.nowMs = OUTAGE_MS;
    expect(await find('first')).toBe('found');
    expect(await find('other')).toBe('JWKSNoMatchingKey');
    expect(state.failures).toBe(1);
    state.nowMs = OUTAGE_MS + MIN_READ_INTERVAL_MS;
    expect(await find('first')).toBe('unavailable 10');
    state.nowMs += 3_000;
    expect(await find('first')).toBe('unavailable 7');
    state.isDown = false;
    state.nowMs += 7_000;
    expect(await find('first')).toBe('found');
  });

  it('are unavailable before the first read succeeds', async () => {
    const { state, find } = await aKeySource();
    state.isDown = true;
    expect(await find('first')).toBe('unavailable 10');
  });

  it('are found through a discovery document, among several addresses', async () => {
    const urls = ['https://one.example/keys', 'https://two.example/.well-known/openid-configuration'];
    const { state, documents, find } = await aKeySource(urls);
    documents.set(urls[0] ?? '', () => ({ keys: [] }));
    documents.set(urls[1] ?? '', () => ({ jwks_uri: 'https://two.example/jwks' }));
    expect(await find('first')).toBe('found');
    expect(state.reads.toSorted()).toEqual([...urls, 'https://two.example/jwks'].toSorted());
  });

  it.each([
    ['not JSON', '<html>'],
    ['not a list', { keys: 'x' }],
    ['too many keys', { keys: Array.from({ length: 201 }, () => ({ kty: 'EC' })) }],
    ['too many bytes', 'x'.repeat(1024 * 1024 + 1)],
    ['another scheme', { jwks_uri: 'file:///etc/passwd' }],
  ])('are refused: %s', async (_case, document) => {
    const { state, documents, find } = await aKeySource();
    documents.set('https://one.example/keys', () => document);
    expect(await find('first')).toBe('unavailable 10');
    expect(state.failures).toBe(1);
  });

  it('exclude HMAC secrets', async () => {
    const { documents, find } = await aKeySource();
    documents.set('https://one.example/keys', () => ({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'first' }] }));
    expect(await find('first')).toBe('JWKSNoMatchingKey');
  });
});
