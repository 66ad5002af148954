import { randomFillSync } from 'node:crypto';
import { agentSpans } from './agent-spans.ts';

/** An id of an export, and its positions there: as bytes (`raw`), and as hexadecimal text (`hex`). */
interface PlacedId {
  readonly bytes: Buffer;
  readonly raw: readonly number[];
  readonly hex: readonly number[];
}

/**
 * Number of hexadecimal digits of a trace id (16 bytes) that a conversation id contains. A response id contains all
 * digits of a span id (8 bytes).
 */
const NAMED_DIGITS = 12;

function placesOf(wanted: Buffer, within: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

/**
 * Repeats a few protobuf exports with new ids, for runs over millions of spans. Generating new texts takes longer than
 * storing them. A result is valid until the next call.
 */
export function renewedExports(seed: number, spans: number, exports = 40): () => Buffer {
  const templates = Array.from({ length: exports }, (_, at) => {
    const ids: Buffer[] = [];
    const anExport = agentSpans(seed + at, (bytes) => {
      const id = randomFillSync(Buffer.alloc(bytes));
      ids.push(id);
      return id.toString('hex');
    });
    const plain = Buffer.from(anExport(spans));
    const placed = ids.map((bytes): PlacedId => {
      const hexText = bytes.length === 8 ? bytes.toString('hex') : bytes.toString('hex').slice(0, NAMED_DIGITS);
      return { bytes, raw: placesOf(bytes, plain), hex: placesOf(Buffer.from(hexText), plain) };
    });
    return { plain, placed };
  });
  let turn = 0;
  return () => {
    const { plain, placed } = templates[turn++ % exports] ?? { plain: Buffer.alloc(0), placed: [] };
    for (const { bytes, raw, hex } of placed) {
      randomFillSync(bytes);
      for (const at of raw) bytes.copy(plain, at);
      const digits = bytes.length === 8 ? bytes.length * 2 : NAMED_DIGITS;
      for (const at of hex) plain.write(bytes.toString('hex').slice(0, digits), at, 'latin1');
    }
    return plain;
  };
}
