import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';

type Headers = Readonly<Record<string, string>>;
type Decode = (bytes: Uint8Array, limit: number) => Promise<Uint8Array>;

/** Maximum number of encodings of one body. */
const MAX_ENCODINGS = 3;

const gunzipped = promisify(gunzip);
const inflated = promisify(inflate);
const inflatedRaw = promisify(inflateRaw);
const unBrotli = promisify(brotliDecompress);
const unZstd = promisify(zstdDecompress);

/** Whether bytes begin with the header of zlib. Some servers send `deflate` without it. */
const hasZlibHeader = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;

const gzip: Decode = (bytes, maxOutputLength) => gunzipped(bytes, { maxOutputLength });

const DECODERS: Readonly<Record<string, Decode>> = {
  identity: async (bytes) => bytes,
  gzip,
  'x-gzip': gzip,
  deflate: (bytes, maxOutputLength) =>
    hasZlibHeader(bytes) ? inflated(bytes, { maxOutputLength }) : inflatedRaw(bytes, { maxOutputLength }),
  br: (bytes, maxOutputLength) => unBrotli(bytes, { maxOutputLength }),
  zstd: (bytes, maxOutputLength) => unZstd(bytes, { maxOutputLength }),
};

/** Encodings of a body in the order in which they were applied, without `identity`. */
export const encodingsOf = ({ 'content-encoding': header = '' }: Headers): readonly string[] =>
  header
    .split(',')
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');

/** A decompressed body. Null for an unknown encoding, invalid data, and more than `limit` bytes of output. */
export async function decodedBody(bytes: Uint8Array, headers: Headers, limit: number): Promise<Uint8Array | null> {
  const encodings = encodingsOf(headers);
  if (encodings.length > MAX_ENCODINGS) return null;
  let decoded = bytes;
  for (const encoding of encodings.toReversed()) {
    const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
    if (decode === undefined) return null;
    try {
      decoded = await decode(decoded, limit);
    } catch {
      return null;
    }
  }
  return decoded;
}
