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

/**
 * A stream without credentials. A credential may be split over chunks. So the end of each chunk is held back until the
 * next one, at most the length of the longest credential. Nothing else is buffered.
 */
export function redactedBytes(body: ByteStream, secrets: readonly string[]): ByteStream {
  const held = Math.max(0, ...secrets.map(({ length }) => length - 1));
  if (held === 0) return body;
  // Latin-1 maps each byte to one character. Credentials in headers have no other characters.
  let rest = '';
  const take = (bytes: Uint8Array | null): Buffer => {
    const text = redactedText(bytes === null ? rest : rest + Buffer.from(bytes).toString('latin1'), secrets);
    const end = bytes === null ? text.length : Math.max(0, text.length - held);
    rest = text.slice(end);
    return Buffer.from(text.slice(0, end), 'latin1');
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
