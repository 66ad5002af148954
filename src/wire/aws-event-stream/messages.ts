import { asBuffer } from '../json/members.ts';

/** Reflected polynomial of CRC-32 (Ethernet, zip). */
const POLYNOMIAL = 0xedb88320;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value >>> 0;
});

/** CRC-32 checksum of bytes, as an unsigned 32-bit number. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** One message of an AWS event stream. */
export interface Message {
  /** Headers with string values, for example `:event-type`. Headers of other types are ignored. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Bytes of the prelude: length of the message, length of its headers, and checksum of both. Each has 4 bytes. */
const PRELUDE_BYTES = 12;
const HEADERS_LENGTH_OFFSET = 4;
const PRELUDE_CHECKSUM_OFFSET = 8;
const CHECKSUM_BYTES = 4;
/** Bytes of a message without headers and payload. */
const MIN_MESSAGE_BYTES = PRELUDE_BYTES + CHECKSUM_BYTES;
/** Maximum bytes of one message. The limit of AWS is 24 MiB. */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;

/** Splits a byte stream into messages. Chunks may have any size. */
export interface MessageReader {
  /**
   * Passes the messages that this chunk completes to `onMessage`. Throws RangeError for an invalid length, checksum or
   * header.
   */
  add(chunk: Uint8Array, onMessage: (message: Message) => void): void;
  /** Buffered bytes of an incomplete message. */
  readonly bufferedBytes: number;
}

export function createMessageReader(): MessageReader {
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  /** Length in bytes of the first buffered message. 0 while it is unknown. */
  let messageBytes = 0;
  return {
    get bufferedBytes() {
      return bufferedBytes;
    },
    add(chunk, onMessage) {
      buffered.push(asBuffer(chunk));
      bufferedBytes += chunk.length;
      // Chunks are joined only when a message may be complete, so that a long message is not copied for each chunk.
      if (bufferedBytes < Math.max(messageBytes, PRELUDE_BYTES)) return;
      let rest = buffered.length === 1 && buffered[0] ? buffered[0] : Buffer.concat(buffered);
      messageBytes = lengthOf(rest);
      while (messageBytes > 0 && rest.length >= messageBytes) {
        onMessage(readMessage(rest.subarray(0, messageBytes)));
        rest = rest.subarray(messageBytes);
        messageBytes = lengthOf(rest);
      }
      buffered = rest.length === 0 ? [] : [rest];
      bufferedBytes = rest.length;
    },
  };
}

/**
 * Length in bytes of the message that begins here. 0 when the prelude is incomplete. Throws RangeError for an invalid
 * prelude.
 */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < PRELUDE_BYTES) return 0;
  if (crc32(bytes.subarray(0, PRELUDE_CHECKSUM_OFFSET)) !== bytes.readUInt32BE(PRELUDE_CHECKSUM_OFFSET))
    throw new RangeError('the prelude checksum of a message is wrong');
  const length = bytes.readUInt32BE(0);
  const minLength = MIN_MESSAGE_BYTES + bytes.readUInt32BE(HEADERS_LENGTH_OFFSET);
  if (length < minLength || length > MAX_MESSAGE_BYTES)
    throw new RangeError(`a message has an invalid length of ${length} bytes`);
  return length;
}

function readMessage(bytes: Buffer): Message {
  const end = bytes.length - CHECKSUM_BYTES;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end))
    throw new RangeError('the checksum of a message is wrong');
  const payloadStart = PRELUDE_BYTES + bytes.readUInt32BE(HEADERS_LENGTH_OFFSET);
  return {
    headers: readHeaders(bytes.subarray(PRELUDE_BYTES, payloadStart)),
    payload: bytes.subarray(payloadStart, end),
  };
}

/** Size of a value that follows its length of 16 bits. */
const VARIABLE = -1;
/** Bytes of a header value, by its type. */
const VALUE_BYTES: readonly number[] = [0, 0, 1, 2, 4, 8, VARIABLE, VARIABLE, 8, 16];
const STRING_TYPE = 7;

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let start = 0;
  while (start < bytes.length) {
    // A header has the length of its name, the name, the type of its value, and the value.
    const nameStart = start + 1;
    const nameEnd = nameStart + bytes.readUInt8(start);
    const type = bytes.readUInt8(nameEnd);
    const size = VALUE_BYTES[type];
    if (size === undefined) throw new RangeError(`a header of a message has the unknown type ${type}`);
    const afterType = nameEnd + 1;
    const valueStart = size === VARIABLE ? afterType + 2 : afterType;
    const valueEnd = valueStart + (size === VARIABLE ? bytes.readUInt16BE(afterType) : size);
    if (valueEnd > bytes.length) throw new RangeError('a header of a message exceeds the header block');
    if (type === STRING_TYPE)
      headers[bytes.toString('utf8', nameStart, nameEnd)] = bytes.toString('utf8', valueStart, valueEnd);
    start = valueEnd;
  }
  return headers;
}
