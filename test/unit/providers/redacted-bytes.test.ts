import { describe, expect, it } from 'vitest';
import { type ByteStream, collect } from '../../../src/domain/bytes.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { credentialTexts, redactedBytes } from '../../../src/providers/redacted-bytes.ts';

/** A stream that delivers all chunks in `pipe`. */
const streamOf = (chunks: readonly Uint8Array[]): ByteStream => ({
  pipe(sink) {
    for (const chunk of chunks) sink.chunk(chunk);
    sink.done();
  },
  resume() {},
  cancel() {},
});

const KEY = 'sk-account-0123456789';
const secrets = credentialTexts({ credentials: { authorization: new Secret(`Bearer ${KEY}`) } });

describe('a redacted error body', () => {
  const text = `{"error":"wrong key ${KEY}, sent as Bearer ${KEY}: é"}`;

  it.each([1, 2, 7, 20, 1000])('has no credential, in chunks of %i bytes', async (size) => {
    const bytes = Buffer.from(text);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_item, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const redacted = await collect(redactedBytes(streamOf(chunks), secrets), 10_000);
    expect(Buffer.from(redacted ?? []).toString()).toBe('{"error":"wrong key <secret>, sent as <secret>: é"}');
  });

  it('has neither the user nor the password of a basic credential', async () => {
    const authorization = new Secret(`Basic ${Buffer.from('account:password').toString('base64')}`);
    const texts = credentialTexts({ credentials: { authorization } });
    const body = streamOf([Buffer.from('account with password')]);
    const redacted = await collect(redactedBytes(body, texts), 10_000);
    expect(Buffer.from(redacted ?? []).toString()).toBe('<secret> with <secret>');
  });

  it.each([1, 5, 9])(
    'has no part of a password that begins with the user name, in chunks of %i bytes',
    async (size) => {
      const authorization = new Secret(`Basic ${Buffer.from('admin:admin12345').toString('base64')}`);
      const texts = credentialTexts({ credentials: { authorization } });
      const bytes = Buffer.from('admin12345 of admin');
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_item, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const redacted = await collect(redactedBytes(streamOf(chunks), texts), 10_000);
      expect(Buffer.from(redacted ?? []).toString()).toBe('<secret> of <secret>');
    },
  );

  it('is the original stream without credentials', () => {
    const body = streamOf([Buffer.from('x')]);
    expect(redactedBytes(body, credentialTexts({ credentials: {} }))).toBe(body);
  });
});
