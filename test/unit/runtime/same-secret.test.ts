import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { sameBytes, secretCheck } from '../../../src/runtime/same-secret.ts';

it.each(['', 'p', 'passwore', 'password!', 'PASSWORD', 'пассворд'])('%j differs from the secret "password"', (text) => {
  expect(secretCheck(new Secret('password'))(text)).toBe(false);
});

it('a secret equals itself, also an empty one and one with non-ASCII letters', () => {
  for (const text of ['password', '', 'пароль']) expect(secretCheck(new Secret(text))(text)).toBe(true);
});

it('bytes and hashes of different lengths differ, without an error', () => {
  const hash = keyGenerator.hash('sk-1');
  expect([sameBytes(Buffer.from('ab'), Buffer.from('ab')), sameBytes(Buffer.from('ab'), Buffer.from('abc'))]).toEqual([
    true,
    false,
  ]);
  expect([keyGenerator.same(hash, keyGenerator.hash('sk-1')), keyGenerator.same(hash, hash.slice(1))]).toEqual([
    true,
    false,
  ]);
  expect(keyGenerator.same(hash, keyGenerator.hash('sk-2'))).toBe(false);
});
