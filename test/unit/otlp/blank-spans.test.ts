import { describe, expect, it } from 'vitest';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { blankSpans } from '../../../src/wire/otlp/blank-spans.ts';
import { decodeExport, decodeSpans } from '../../../src/wire/otlp/decode.ts';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { asOtlpJson, randomExport, seeded } from '../../support/random-export.ts';

const FORMATS = { protobuf: 'application/x-protobuf', json: 'application/json' } as const;
const bodyOf = (format: keyof typeof FORMATS, request: Readonly<Record<string, unknown>>): Uint8Array =>
  format === 'json' ? Buffer.from(asOtlpJson(request)) : encodeExport(request);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

const id = (digits: string, length: number): Uint8Array => Uint8Array.fromHex(digits.repeat(length));
const attribute = (stringValue: string) => ({ key: 'k', value: { stringValue } });
const aSpan = (trace: string, content: string) => ({
  traceId: id(trace, 16),
  spanId: id('77', 8),
  name: content,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  attributes: [attribute(content)],
});
const group = (resource: string, scope: string, ...spans: readonly object[]) => ({
  resource: { attributes: [attribute(resource)] },
  scopeSpans: [{ scope: { name: scope, version: '1', attributes: [attribute(scope)] }, spans }],
});

describe.each(['protobuf', 'json'] as const)('a body in %s without some traces', (format) => {
  const body = bodyOf(format, {
    resourceSpans: [
      group('both-resource', 'both-scope', aSpan('11', 'secret-1'), aSpan('22', 'kept-1'), aSpan('11', 'secret-1b')),
      group(`secret-${'r'.repeat(200)}`, 'secret-scope', aSpan('11', 'secret-2')),
      group('last-resource', 'last-scope', aSpan('33', 'third'), aSpan('33', 'third')),
    ],
  });
  const read = (blanked: Uint8Array, index: number): RawSpan | undefined =>
    decodeSpans(blanked, format, [index]).get(index);

  it('has neither these traces nor their own resources; all others are unchanged and in place', () => {
    const spans = decodeExport(body, FORMATS[format]);
    const blankedOnce = blankSpans(body, format, ['11'.repeat(16)]);
    expect(text(blankedOnce)).not.toContain('secret');
    // The positions of the spans of the other two traces.
    expect([1, 4, 5].map((index) => read(blankedOnce, index))).toEqual([1, 4, 5].map((index) => spans[index]));
    const blankedTwice = blankSpans(blankedOnce, format, ['33'.repeat(16), '99'.repeat(16)]);
    expect(text(blankedTwice)).not.toMatch(/secret|third|last/);
    expect(read(blankedTwice, 1)).toEqual(spans[1]);
    // The rest of a removed group stays readable, and so does the data after it.
    expect(blankSpans(blankedTwice, format, [])).toEqual(blankedTwice);
  });

  it('keeps all other spans complete, for any request', () => {
    const draw = seeded(20_261_121);
    for (let round = 0; round < 60; round += 1) {
      const { request, spans } = randomExport(draw);
      const randomBody = bodyOf(format, request);
      const removedTraces = new Set(spans.flatMap(({ traceId }) => (draw(2) === 0 ? [traceId] : [])));
      const blanked = blankSpans(randomBody, format, [...removedTraces]);
      const remaining = [...spans.keys()].filter((index) => !removedTraces.has(spans[index]?.traceId ?? ''));
      expect(remaining.map((index) => read(blanked, index))).toEqual([
        ...decodeSpans(randomBody, format, remaining).values(),
      ]);
    }
  });
});

it('a resource of any length can be removed from protobuf', () => {
  for (let length = 0; length < 400; length += 1) {
    const resource = { attributes: [attribute('s'.repeat(length))] };
    const body = encodeExport({
      resourceSpans: [
        { resource, scopeSpans: [{ spans: [aSpan('11', 'gone')] }] },
        group('r', 's', aSpan('22', 'kept')),
      ],
    });
    const blanked = blankSpans(body, 'protobuf', ['11'.repeat(16)]);
    expect(blanked).toHaveLength(body.length);
    expect(decodeSpans(blanked, 'protobuf', [1]).get(1)?.name).toBe('kept');
    expect(text(blanked)).not.toMatch(/ss|gone/);
  }
});
