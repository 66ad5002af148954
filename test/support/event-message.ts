import { crc32 } from 'node:zlib';

/**
 * Message of an AWS binary event stream. All headers are strings, which have type 7. The first 12 bytes are the
 * length of the message, the length of the headers, and a checksum of both lengths. The last 4 bytes are a checksum
 * of all bytes before.
 */
export function eventMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const written = Object.entries(headers).map(([name, value]) => {
    const size = Buffer.alloc(2);
    size.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([
      Buffer.from([Buffer.byteLength(name)]),
      Buffer.from(name),
      Buffer.from([7]),
      size,
      Buffer.from(value),
    ]);
  });
  const head = Buffer.concat(written);
  const body = Buffer.from(payload);
  const message = Buffer.alloc(12 + head.length + body.length + 4);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, 12);
  body.copy(message, 12 + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

/** Event of a Bedrock response stream. */
export const converseEvent = (type: string, payload: object): Buffer =>
  eventMessage(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(payload),
  );
