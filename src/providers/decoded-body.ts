import { concatBytes } from '../domain/bytes.ts';

type Headers = Readonly<Record<string, string>>;
/** A format of `DecompressionStream`. Its types lack `brotli`, which Node has. */
type Format = ConstructorParameters<typeof DecompressionStream>[0] | 'brotli';

/** Maximum number of encodings of one body. */
const MAX_ENCODINGS = 3;

/** Whether bytes begin with the header of zlib. Some servers send `deflate` without it. */
const hasZlibHeader = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;

/** The format of an encoding; null for an unknown encoding. */
function formatOf(encoding: string, bytes: Uint8Array): Format | null {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
      return hasZlibHeader(bytes) ? 'deflate' : 'deflate-raw';
    case 'br':
      return 'brotli';
    default:
      return null;
  }
}

/** Encodings of a body in the order in which they were applied, without `identity`. */
export const encodingsOf = ({ 'content-encoding': header = '' }: Headers): readonly string[] =>
  header
    .split(',')
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');

/** Decompresses bytes. Null above `limit` bytes of output. Rejects for invalid data. */
async function decompressed(bytes: Uint8Array, format: Format, limit: number): Promise<Uint8Array | null> {
  const output = new Blob([Uint8Array.from(bytes)])
    .stream()
    .pipeThrough(new DecompressionStream(format as string as CompressionFormat));
  const reader = output.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatBytes(chunks);
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
}

/** A decompressed body. Null for an unknown encoding, invalid data, and more than `limit` bytes of output. */
export async function decodedBody(bytes: Uint8Array, headers: Headers, limit: number): Promise<Uint8Array | null> {
  const encodings = encodingsOf(headers);
  if (encodings.length > MAX_ENCODINGS) return null;
  let decoded: Uint8Array | null = bytes;
  for (const encoding of encodings.toReversed()) {
    const format = formatOf(encoding, decoded);
    if (format === null) return null;
    decoded = await decompressed(decoded, format, limit).catch(() => null);
    if (decoded === null) return null;
  }
  return decoded;
}
