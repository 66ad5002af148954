import { describe, expect, it } from 'vitest';
import { HttpFailure } from '../../../src/domain/http.ts';
import { crc32 } from '../../../src/wire/aws-event-stream/messages.ts';
import { createMessageReframer } from '../../../src/wire/aws-event-stream/events.ts';
import { createLineReframer } from '../../../src/wire/ndjson.ts';
import { type Reframer, reframedStream } from '../../../src/wire/sse/reframed.ts';
import { fedStream, gather } from '../../support/byte-streams.ts';
import { eventMessage } from '../../support/event-message.ts';

// Both messages were encoded by other software and decoded by the AWS SDK for Python.
const DELTA = Buffer.from(
  '0000009d00000057b9bbf89f0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b22636f6e74656e74426c6f636b496e646578223a302c2264656c7461223a7b2274657874223a224772c3bcc39f20f09f9880227d7d1b1149a2',
  'hex',
);
/** Message with a header of each type. */
const EVERY_TYPE = Buffer.from(
  '000000b60000007333a9025b016100016201016302070164030007016504000000000166050000000000000000016706000268690168080000000000000000016909000000000000000000000000000000000d3a6d6573736167652d747970650700056576656e740b3a6576656e742d747970650700086d657461646174617b0a20227573616765223a207b22696e707574546f6b656e73223a20312c20226f7574707574546f6b656e73223a20327d0a7ddaa43a25',
  'hex',
);
const EVENTS =
  'event: contentBlockDelta\ndata: {"contentBlockIndex":0,"delta":{"text":"Grüß 😀"}}\n\n' +
  'event: metadata\ndata: {  "usage": {"inputTokens": 1, "outputTokens": 2} }\n\n';

/** The text and the end of a stream in chunks of this size. */
function read(bytes: Buffer, reframer: Reframer, size = bytes.length) {
  const source = fedStream();
  const gathered = gather(reframedStream(source, reframer));
  for (let offset = 0; offset < bytes.length; offset += size) source.feed(bytes.subarray(offset, offset + size));
  source.finish();
  return { text: gathered.text(), end: gathered.end, cancelled: source.cancelled };
}

/** The message with one byte changed. */
function damaged(message: Buffer, index: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt8(copy.readUInt8(index) ^ 1, index);
  return copy;
}

describe('AWS event streams', () => {
  it('use the CRC-32 of Ethernet', () => {
    // The published check value of this CRC.
    expect(crc32(Buffer.from('123456789'))).toBe(3_421_780_262);
  });

  it.each([1, 2, 3, 7, 64, 1000])('become the same events in chunks of %i bytes', (size) => {
    expect(read(Buffer.concat([DELTA, EVERY_TYPE]), createMessageReframer(), size)).toEqual({
      text: EVENTS,
      end: 'done',
      cancelled: false,
    });
  });

  it.each([
    [0, 'the prelude checksum of a message is wrong'],
    [9, 'the prelude checksum of a message is wrong'],
    [20, 'the checksum of a message is wrong'],
    [100, 'the checksum of a message is wrong'],
    [DELTA.length - 1, 'the checksum of a message is wrong'],
  ])('fail where byte %i is damaged', (index, fault) => {
    const { text, end, cancelled } = read(
      Buffer.concat([EVERY_TYPE, damaged(DELTA, index)]),
      createMessageReframer(),
      64,
    );
    expect(text).toBe(EVENTS.slice(EVENTS.indexOf('event: metadata')));
    expect(end).toBeInstanceOf(HttpFailure);
    expect(end).toMatchObject({ fault: 'garbled', message: `The upstream's stream cannot be read: ${fault}.` });
    expect(cancelled).toBe(true);
  });

  it('have the events before a damaged message, also in the same chunk', () => {
    const { text, end } = read(Buffer.concat([EVERY_TYPE, damaged(DELTA, 20)]), createMessageReframer());
    expect(text).toBe(EVENTS.slice(EVENTS.indexOf('event: metadata')));
    expect(end).toMatchObject({ fault: 'garbled' });
  });

  it('fail where they end within a message', () => {
    expect(read(DELTA.subarray(0, 50), createMessageReframer()).end).toMatchObject({
      fault: 'garbled',
      message: "The upstream's stream cannot be read: it ended inside a message.",
    });
  });

  it('fail where a message declares a size above the limit', () => {
    const head = Buffer.alloc(12);
    head.writeUInt32BE(0x7fffffff, 0);
    head.writeUInt32BE(crc32(head.subarray(0, 8)), 8);
    expect(read(head, createMessageReframer()).end).toMatchObject({
      message: "The upstream's stream cannot be read: a message has an invalid length of 2147483647 bytes.",
    });
  });

  it('have exceptions and errors as events', () => {
    const exception = eventMessage(
      { ':message-type': 'exception', ':exception-type': 'throttlingException' },
      '{"message":"slow"}',
    );
    const error = eventMessage({ ':message-type': 'error', ':error-code': 'internal', ':error-message': 'oh' }, '');
    expect(read(Buffer.concat([exception, error]), createMessageReframer()).text).toBe(
      'event: exception\ndata: {"exception":"throttlingException","message":"slow"}\n\n' +
        'event: exception\ndata: {"exception":"internal","message":"oh"}\n\n',
    );
  });
});

describe('lines of JSON', () => {
  const LINES = Buffer.from('{"a":"é"}\r\n\n{"b":2}\n{"c":3}');
  it.each([1, 2, 5, 100])('become events, also in chunks of %i bytes', (size) => {
    expect(read(LINES, createLineReframer(), size)).toEqual({
      text: 'data: {"a":"é"}\n\ndata: {"b":2}\n\ndata: {"c":3}\n\n',
      end: 'done',
      cancelled: false,
    });
  });
});

describe('a reframed stream', () => {
  it('forwards pauses, failures and cancellation', () => {
    const source = fedStream();
    const stream = reframedStream(source, createLineReframer());
    const ends: unknown[] = [];
    stream.pipe({ chunk: () => false, done: () => ends.push('done'), fail: (error) => ends.push(error.message) });
    expect(source.feed('{"half":')).toBe(true);
    expect(source.feed('1}\n')).toBe(false);
    stream.resume();
    expect(source.resumed).toBe(1);
    source.break(new Error('cut'));
    expect(ends).toEqual(['cut']);
    stream.cancel();
    expect(source.cancelled).toBe(true);
  });
});
