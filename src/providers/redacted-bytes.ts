import type { ByteStream } from '../domain/bytes.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';

const MARK = '<secret>';
/** Shorter texts are no secrets: they would also match other words of an answer. */
const MIN_CHARACTERS = 4;
const SCHEME = /^(\S+) +(.+)$/;

/** Texts under which an upstream may repeat a credential header: as sent, without its scheme, and decoded. */
function formsOf(value: string): readonly string[] {
  const [, scheme = '', bare = value] = SCHEME.exec(value) ?? [];
  const decoded = scheme.toLowerCase() === 'basic' ? Buffer.from(bare, 'base64').toString('latin1').split(':') : [];
  return [value, bare, ...decoded];
}

/** Texts of the credentials of a request, the longest first. */
export function credentialTexts({ credentials }: Pick<Forwarded, 'credentials'>): readonly string[] {
  const texts = Object.values(credentials).flatMap((secret) => formsOf(secret.reveal()));
  return [...new Set(texts)]
    .filter((text) => text.length >= MIN_CHARACTERS)
    .toSorted((left, right) => right.length - left.length);
}

/** A text without credentials. */
export const redactedText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((redacted, secret) => redacted.replaceAll(secret, MARK), text);

/** Matches a secret, the longest one first. */
const patternOf = (secrets: readonly string[]): RegExp =>
  new RegExp(secrets.map((secret) => secret.replaceAll(/[^\w\s]/g, String.raw`\$&`)).join('|'), 'g');

/**
 * A stream without credentials. A credential may be split over chunks. So the end of each chunk is held back until the
 * next one, at most the length of the longest credential. Nothing else is buffered.
 */
export function redactedBytes(body: ByteStream, secrets: readonly string[]): ByteStream {
  const held = Math.max(0, ...secrets.map(({ length }) => length - 1));
  if (held === 0) return body;
  const pattern = patternOf(secrets);
  // Latin-1 maps each byte to one character. Credentials in headers have no other characters.
  let rest = '';
  const take = (bytes: Uint8Array | null): Buffer => {
    const text = bytes === null ? rest : rest + Buffer.from(bytes).toString('latin1');
    // The held text is not redacted yet: its start may become a longer credential.
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
          const safe = take(bytes);
          return safe.length === 0 ? true : sink.chunk(safe);
        },
        done() {
          const last = take(null);
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
