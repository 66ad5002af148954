import { asBuffer } from '../json/members.ts';
import { crc32 } from './crc32.ts';

/** One message of AWS's binary event streams. */
export interface Message {
  /** Its headers that are text, e.g. `:event-type`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Two lengths and their checksum. */
const PRELUDE = 12;
const CHECKSUM = 4;
/** The smallest message has neither headers nor a payload. */
const SMALLEST = PRELUDE + CHECKSUM;
/** Most bytes one message may have; AWS allows 24 MiB. */
const LARGEST = 24 * 1024 * 1024;

/** Collects chunks cut anywhere into messages. */
export interface MessageReader {
  /** Gives the messages this chunk completes. Throws RangeError for a wrong length or checksum, after those before it. */
  add(chunk: Uint8Array, take: (message: Message) => void): void;
  /** Bytes of a message that is not complete. */
  readonly waiting: number;
}

export function createMessageReader(): MessageReader {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** Bytes the first message held has; zero when its length is not known yet. */
  let wanted = 0;
  return {
    get waiting() {
      return heldBytes;
    },
    add(chunk, take) {
      held.push(asBuffer(chunk));
      heldBytes += chunk.length;
      // Joined only when something can be read of it, so that a long message in many chunks is not copied each time.
      if (heldBytes < Math.max(wanted, PRELUDE)) return;
      let rest = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
      wanted = lengthOf(rest);
      while (wanted > 0 && rest.length >= wanted) {
        take(readMessage(rest.subarray(0, wanted)));
        rest = rest.subarray(wanted);
        wanted = lengthOf(rest);
      }
      held = rest.length === 0 ? [] : [rest];
      heldBytes = rest.length;
    },
  };
}

/** Bytes of the message that begins here; zero when too few have come to say. */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < PRELUDE) return 0;
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8))
    throw new RangeError('the checksum of a message’s beginning is wrong');
  const length = bytes.readUInt32BE(0);
  if (length < SMALLEST + bytes.readUInt32BE(4) || length > LARGEST)
    throw new RangeError(`a message says that it has ${length} bytes`);
  return length;
}

function readMessage(bytes: Buffer): Message {
  const end = bytes.length - CHECKSUM;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end))
    throw new RangeError('the checksum of a message is wrong');
  const payloadAt = PRELUDE + bytes.readUInt32BE(4);
  return { headers: readHeaders(bytes.subarray(PRELUDE, payloadAt)), payload: bytes.subarray(payloadAt, end) };
}

/** Bytes of a value by its type; what is longer says how long it is. */
const SIZES: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const TEXT = 7;

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const type = bytes.readUInt8(nameEnd);
    const size = SIZES[type];
    if (size === undefined) throw new RangeError(`a header of a message has the unknown type ${type}`);
    const valueAt = nameEnd + (size === -1 ? 3 : 1);
    const valueEnd = valueAt + (size === -1 ? bytes.readUInt16BE(nameEnd + 1) : size);
    if (valueEnd > bytes.length) throw new RangeError('a header of a message is longer than all of them');
    if (type === TEXT) headers[bytes.toString('utf8', at + 1, nameEnd)] = bytes.toString('utf8', valueAt, valueEnd);
    at = valueEnd;
  }
  return headers;
}
