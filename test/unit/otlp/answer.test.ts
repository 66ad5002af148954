import { describe, expect, it } from 'vitest';
import { encodeOtlpError, encodeOtlpSuccess } from '../../../src/wire/otlp/answer.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

describe('answers to an exporter', () => {
  it('are JSON for a request in JSON', () => {
    const success = encodeOtlpSuccess('Application/JSON; charset=utf-8');
    expect([success.contentType, text(success.body)]).toEqual(['application/json', '{}']);
    const failure = encodeOtlpError('too "big"', 'application/json');
    expect([failure.contentType, text(failure.body)]).toEqual(['application/json', '{"message":"too \\"big\\""}']);
  });

  it.each([undefined, 'application/x-protobuf', 'application/protobuf', 'text/plain'])(
    'are protobuf for a request with the content type %s: an empty response, or a google.rpc.Status',
    (contentType) => {
      expect(encodeOtlpSuccess(contentType)).toEqual({
        contentType: 'application/x-protobuf',
        body: new Uint8Array(0),
      });
      expect(encodeOtlpError('no', contentType)).toEqual({
        contentType: 'application/x-protobuf',
        // Field 2 of two bytes: `no`.
        body: Uint8Array.of(0x12, 0x02, 0x6e, 0x6f),
      });
    },
  );

  it('contain the length of the message in bytes, also where this length takes two bytes', () => {
    const { body } = encodeOtlpError('ü'.repeat(100));
    // Field 2, and 200 bytes as a varint.
    expect([...body.subarray(0, 3)]).toEqual([0x12, 0xc8, 0x01]);
    expect(text(body.subarray(3))).toBe('ü'.repeat(100));
  });
});
