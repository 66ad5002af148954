import { expect, it } from 'vitest';
import { callbackAddress, isOwnResource, isVerifier } from '../../../src/domain/command-line-sessions/authorization.ts';
import {
  type CommandLineSession,
  expiryOf,
  familyOf,
  newRefreshToken,
  refreshTokenState,
} from '../../../src/domain/command-line-sessions/command-line-session.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';

const DAY_MS = 24 * 3_600_000;

it('accepts the verifier of RFC 7636, and no shorter or other one', () => {
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  expect(isVerifier(verifier, challenge, keyGenerator)).toBe(true);
  expect(isVerifier(verifier.slice(1), challenge, keyGenerator)).toBe(false);
  expect(isVerifier(`${verifier}=`, challenge, keyGenerator)).toBe(false);
  const short = 'x'.repeat(42);
  const shortChallenge = Buffer.from(keyGenerator.hash(short), 'hex').toString('base64url');
  expect(isVerifier(short, shortChallenge, keyGenerator)).toBe(false);
});

it('the resource is the server, with or without a slash at the end', () => {
  const base = 'http://127.0.0.1:4000';
  expect([null, base, `${base}/`].map((resource) => isOwnResource(resource, base))).toEqual([true, true, true]);
  expect(isOwnResource(`${base}${'/'.repeat(16_000)}`, base)).toBe(true);
  const startedMs = performance.now();
  expect(isOwnResource(`${'/'.repeat(100_000)}x`, base)).toBe(false);
  expect(isOwnResource(`${base}${'/'.repeat(100_000)}x`, base)).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  expect(['', `${base}/mcp`, 'http://127.0.0.1:40000'].map((resource) => isOwnResource(resource, base))).toEqual([
    false,
    false,
    false,
  ]);
});

it('adds the answer to the query of a redirect URI', () => {
  expect(callbackAddress('http://127.0.0.1:1/a', { code: 'c&d', state: null })).toBe('http://127.0.0.1:1/a?code=c%26d');
  expect(callbackAddress('http://127.0.0.1:1/a?b=c', { code: 'd' })).toBe('http://127.0.0.1:1/a?b=c&code=d');
});

it('refresh tokens of a session have the same first part', () => {
  const first = newRefreshToken(keyGenerator);
  const family = familyOf(first) ?? '';
  const next = newRefreshToken(keyGenerator, family);
  expect(first).toMatch(/^rt-[\w-]{32}\.[\w-]{32}$/);
  expect(familyOf(next)).toBe(family);
  expect(next).not.toBe(first);
  expect(['', 'rt-', `${first}x`, `x${first}`, first.slice(3)].map(familyOf)).toEqual([null, null, null, null, null]);
});

it('ends 30 days after the last renewal, and 90 days after the sign-in', () => {
  const start = new Date(0);
  expect(expiryOf(start, start)).toEqual(new Date(30 * DAY_MS));
  expect(expiryOf(start, new Date(59 * DAY_MS))).toEqual(new Date(89 * DAY_MS));
  expect(expiryOf(start, new Date(61 * DAY_MS))).toEqual(new Date(90 * DAY_MS));
});

it('tells the replaced refresh token from a reused one, after ten seconds', () => {
  const session = {
    secretHash: 'now',
    previousSecretHash: 'before',
    renewedAt: new Date(1_000),
    expiresAt: new Date(90_000),
  } as CommandLineSession;
  const state = (hash: string, ms: number) =>
    refreshTokenState(session, hash, { now: new Date(ms), generator: keyGenerator });
  expect(state('now', 1_000)).toBe('current');
  expect(state('now', 89_999)).toBe('current');
  expect(state('now', 90_000)).toBe('expired');
  expect(state('before', 11_000)).toBe('repeated');
  expect(state('before', 11_001)).toBe('reused');
  expect(state('older', 1_000)).toBe('reused');
});
