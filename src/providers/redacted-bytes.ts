import type { ByteStream } from '../domain/bytes.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';

const MARK = '<secret>';
/** Minimum number of characters of a replaced credential. A shorter one would match other words of an answer, too. */
const MIN_CHARACTERS = 4;
const SCHEME = /^(\S+) +(.+)$/;

/** Texts under which an upstream may repeat a credential header: as sent, without its scheme, and decoded. */
function formsOf(value: string): readonly string[] {
  const [, scheme = '', bare = value] = SCHEME.exec(value) ?? [];
  const decoded = scheme.toLowerCase() === 'basic' ? Buffer.from(bare, 'base64').toString('latin1').split(':') : [];
  return [value, bare, ...decoded];
}

/** Texts to replace in the answer to a request, because they contain its credentials. The longest text is first. */
export function credentialTexts({ credentials }: Pick<Forwarded, 'credentials'>): readonly string[] {
  const texts = Object.values(credentials).flatMap((secret) => formsOf(secret.reveal()));
  return [...new Set(texts)]
    .filter((text) => text.length >= MIN_CHARACTERS)
    .toSorted((left, right) => right.length - left.length);
}

/** Replaces secrets in a text. A secret that contains another one must come first. */
export const redactedText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((redacted, secret) => redacted.replaceAll(secret, MARK), text);

/** Matches any of these secrets. Where several match, the first in the list is used. */
const patternOf = (secrets: readonly string[]): RegExp =>
  new RegExp(secrets.map((secret) => secret.replaceAll(/[^\w\s]/g, String.raw`\$&`)).join('|'), 'g');

/**
 * Replaces secrets in a stream. A secret may be split over chunks. So the end of each chunk is held until the next
 * chunk arrives: fewer bytes than the longest secret has. Nothing else is buffered. `secrets` has the longest secret
 * first.
 */
export function redactedBytes(body: ByteStream, secrets: readonly string[]): ByteStream {
  const held = Math.max(0, ...secrets.map(({ length }) => length - 1));
  if (held === 0) return body;
  const pattern = patternOf(secrets);
  // Latin-1 maps each byte to one character, and credentials in headers have no other characters.
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
      safe += text.slice(at, index) + MARK;
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
