import { describe, expect, it } from 'vitest';
import type { ExportedSpan } from '../../../src/domain/traces/exported-span.ts';
import { readPartialSuccess } from '../../../src/wire/otlp/answer.ts';
import { decodeExport } from '../../../src/wire/otlp/decode.ts';
import { encodeExport, type Sender } from '../../../src/wire/otlp/encode.ts';
import { rewritten } from '../../support/otlp-oracle.ts';
import { protobufField } from '../../support/protobuf-field.ts';
import { randomExport, seeded } from '../../support/random-export.ts';

const SENDER: Sender = { resource: { 'service.name': 'gateway' }, scope: { name: 'gateway', version: '1.0.0' } };

describe.each(['protobuf', 'json'] as const)('an export in %s', (encoding) => {
  it('is decoded to the same spans, for random spans without events and links', () => {
    const draw = seeded(5);
    for (let round = 0; round < 200; round++) {
      const spans = randomExport(draw).spans.map((span) => ({ ...span, events: [], links: [] }));
      const { body, contentType } = encodeExport(spans, SENDER, encoding);
      expect(decodeExport(body, contentType)).toEqual(
        spans.map((span) => ({
          ...span,
          resource: { attributes: SENDER.resource },
          instrumentationScope: { ...SENDER.scope, attributes: {} },
        })),
      );
    }
  });

  it('has no spans without input', () => {
    const { body, contentType } = encodeExport([], SENDER, encoding);
    expect(decodeExport(body, contentType)).toEqual([]);
  });
});

it('an export in protobuf equals the output of another encoder, byte for byte', () => {
  const draw = seeded(6);
  for (let round = 0; round < 100; round++) {
    const spans: readonly ExportedSpan[] = randomExport(draw).spans;
    const { body } = encodeExport(spans, SENDER, 'protobuf');
    expect(Buffer.from(rewritten(body) ?? []).toHex()).toBe(Buffer.from(body).toHex());
  }
});

describe('the answer of a receiver to an accepted export', () => {
  const nothingRejected = { rejectedSpans: 0, message: '' };
  const spansRejected = { rejectedSpans: 300, message: 'too old' };
  const json = (value: unknown) => readPartialSuccess(Buffer.from(JSON.stringify(value)), 'application/json');
  /** Field 1: 300 as a varint. Field 2: the message. */
  const partialSuccess = Buffer.concat([Uint8Array.of(0x08, 0xac, 0x02), protobufField(0x12, Buffer.from('too old'))]);

  it('is read in both encodings', () => {
    expect(json({ partialSuccess: { rejectedSpans: '300', errorMessage: 'too old' } })).toEqual(spansRejected);
    expect(readPartialSuccess(protobufField(0x0a, partialSuccess))).toEqual(spansRejected);
    // A field of a later version precedes it.
    expect(readPartialSuccess(Buffer.concat([Uint8Array.of(0x10, 1), protobufField(0x0a, partialSuccess)]))).toEqual(
      spansRejected,
    );
  });

  it('reports no rejected spans when it is empty or invalid', () => {
    expect(readPartialSuccess(new Uint8Array(0))).toEqual(nothingRejected);
    for (const value of [{}, { partialSuccess: {} }, { partialSuccess: null }, [], 7, { partialSuccess: 'x' }])
      expect(json(value)).toEqual(nothingRejected);
    expect(json({ partialSuccess: { rejectedSpans: '-1', errorMessage: 7 } })).toEqual(nothingRejected);
    expect(readPartialSuccess(Buffer.from('<html>'), 'application/json')).toEqual(nothingRejected);
    expect(readPartialSuccess(Buffer.from('<html>'))).toEqual(nothingRejected);
  });
});
