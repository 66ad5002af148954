import { randomFillSync } from 'node:crypto';
import { agentSpans } from './agent-spans.ts';

/** A trace or span id of an export, and its positions there: as bytes (`raw`), and as hexadecimal text (`hex`). */
interface PlacedId {
  readonly bytes: Buffer;
  readonly raw: readonly number[];
  readonly hex: readonly number[];
}

const SPAN_ID_BYTES = 8;
/** Number of hexadecimal digits of a trace id that a conversation id contains. */
const CONVERSATION_DIGITS = 12;

/**
 * Hexadecimal digits of an id that an attribute contains. A response id contains the whole id of its span. A
 * conversation id contains the first digits of its trace id.
 */
function digitsInAttribute(id: Buffer): string {
  const digits = id.toString('hex');
  return id.length === SPAN_ID_BYTES ? digits : digits.slice(0, CONVERSATION_DIGITS);
}

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
    /** Filled by `makeExport`. */
    const ids: Buffer[] = [];
    const makeExport = agentSpans(seed + at, (bytes) => {
      const id = randomFillSync(Buffer.alloc(bytes));
      ids.push(id);
      return id.toString('hex');
    });
    const plain = Buffer.from(makeExport(spans));
    const placed = ids.map((bytes): PlacedId => {
      const digits = Buffer.from(digitsInAttribute(bytes));
      return { bytes, raw: placesOf(bytes, plain), hex: placesOf(digits, plain) };
    });
    return { plain, placed };
  });
  let turn = 0;
  return () => {
    const { plain, placed } = templates[turn++ % exports] ?? { plain: Buffer.alloc(0), placed: [] };
    for (const { bytes, raw, hex } of placed) {
      randomFillSync(bytes);
      for (const at of raw) bytes.copy(plain, at);
      for (const at of hex) plain.write(digitsInAttribute(bytes), at, 'latin1');
    }
    return plain;
  };
}
