import type { ByteStream } from '../domain/bytes.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import { headerSecrets, REDACTED, secretMatcher } from '../domain/secret-texts.ts';

/** Texts of the credentials of a request, the longest first. */
export const credentialTexts = ({ credentials }: Pick<Forwarded, 'credentials'>): readonly string[] =>
  headerSecrets(Object.values(credentials).map((secret) => secret.reveal()));

/**
 * A stream without credentials, also without those in the escaped forms of JSON. A credential may be split over
 * chunks. So the end of each chunk is held back until the next one, at most the length of the longest escaped form.
 * Nothing else is buffered.
 */
export function redactedBytes(body: ByteStream, secrets: readonly string[]): ByteStream {
  const matcher = secretMatcher(secrets, { asBytes: true });
  if (matcher === null) return body;
  const { pattern } = matcher;
  const held = matcher.maxLength - 1;
  // Latin-1 maps each byte to one character.
  let rest = '';
  /** Returns the redacted bytes that can be sent, and holds the rest. Null ends the stream: nothing is held. */
  const redactNext = (bytes: Uint8Array | null): Buffer => {
    const text = bytes === null ? rest : rest + Buffer.from(bytes).toString('latin1');
    // Matches in the held text are replaced later: with the next chunk, a longer secret may match there.
    const end = bytes === null ? text.length : Math.max(0, text.length - held);
    let safe = '';
    let at = 0;
    for (const { index, 0: secret } of text.matchAll(pattern)) {
      if (index >= end) break;
      safe += text.slice(at, index) + REDACTED;
      at = index + secret.length;
    }
    if (at < end) {
      safe += text.slice(at, end);
      at = end;
    }
    rest = text.slice(at);
    return Buffer.from(safe, 'latin1');
  };
  return {
    pipe(sink) {
      body.pipe({
        chunk(bytes) {
          const safe = redactNext(bytes);
          return safe.length === 0 ? true : sink.chunk(safe);
        },
        done() {
          const last = redactNext(null);
          if (last.length > 0) sink.chunk(last);
          sink.done();
        },
        fail: (error) => sink.fail(error),
      });
    },
    resume: () => body.resume(),
    cancel: (failure) => body.cancel(failure),
  };
}
