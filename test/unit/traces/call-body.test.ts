import { describe, expect, it } from 'vitest';
import { blankCalls, lineOfCall, payloadOfCall, payloadsOfCalls } from '../../../src/domain/traces/call-body.ts';
import { payloadText } from '../../../src/domain/traces/span-rows.ts';
import type { SpanPayload } from '../../../src/domain/traces/span.ts';

/** Text with characters that are escaped in JSON or have a meaning in a body. */
const SPECIAL_TEXT = 'a "quoted" \\ text, [~#\u{1F600}, \uD800, \0 and\nlines';
const resourceAttributes = { 'service.name': SPECIAL_TEXT };

const aPayload = (fields: Partial<SpanPayload> = {}): SpanPayload => ({
  input: '',
  output: '',
  attributes: { first: 'usual', [SPECIAL_TEXT]: 'usual', last: 'usual' },
  resourceAttributes,
  events: [],
  links: [],
  ...fields,
});
const PAYLOADS: readonly SpanPayload[] = [
  aPayload(),
  aPayload({ input: SPECIAL_TEXT, output: SPECIAL_TEXT, attributes: { [SPECIAL_TEXT]: SPECIAL_TEXT } }),
  aPayload({ attributes: {}, resourceAttributes: {} }),
  aPayload({ events: [{ name: SPECIAL_TEXT, timeNs: 7n, attributes: { [SPECIAL_TEXT]: SPECIAL_TEXT } }] }),
  aPayload({ links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), attributes: {} }] }),
];
const traceId = (index: number): string => String(index).padStart(32, '0');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const places = (body: Uint8Array, count: number) =>
  Array.from({ length: count }, (_, index) => payloadOfCall(body, index));

describe('a body of calls', () => {
  // The last line of a body has no line feed.
  const body = bytes(
    PAYLOADS.map((payload, index) => lineOfCall(traceId(index), payloadText(payload)))
      .join('')
      .slice(0, -1),
  );

  it('has each payload at its position', () => {
    expect(payloadsOfCalls(body)).toEqual(PAYLOADS);
    expect(places(body, PAYLOADS.length + 1)).toEqual([...PAYLOADS, undefined]);
  });

  it('keeps the positions of the other payloads when traces are removed', () => {
    const remaining = blankCalls(body, [traceId(0), traceId(2)]);
    expect(places(remaining, 5)).toEqual(
      PAYLOADS.map((payload, index) => (index === 0 || index === 2 ? undefined : payload)),
    );
    expect(new TextDecoder().decode(remaining)).not.toContain(traceId(0));
  });
});

describe('a body of calls of an earlier version', () => {
  const [withEvent, withoutEvent] = [aPayload({ events: [{ name: 'e', timeNs: 7n, attributes: {} }] }), aPayload()];
  // A line of `#` is a pattern: the position of its first call, and the attributes that its calls share. A payload of a
  // pattern begins with `~`: input, output, then the number of each attribute that differs, with its value.
  const body = bytes(
    [
      `#0${JSON.stringify([{ model: 'm', id: '', special: SPECIAL_TEXT }, resourceAttributes])}`,
      '#3[{"only":"b"},{}]',
      `${traceId(0)}~["in","out"]`,
      `${traceId(1)}~["","",1,"resp-1",2,${JSON.stringify(SPECIAL_TEXT)}]`,
      `${traceId(2)}${payloadText(withEvent)}`,
      `${traceId(3)}~["",${JSON.stringify(SPECIAL_TEXT)},0,"c"]`,
      `${traceId(4)}${payloadText(withoutEvent)}`,
    ].join('\n'),
  );
  const expected: readonly SpanPayload[] = [
    aPayload({ input: 'in', output: 'out', attributes: { model: 'm', id: '', special: SPECIAL_TEXT } }),
    aPayload({ attributes: { model: 'm', id: 'resp-1', special: SPECIAL_TEXT } }),
    withEvent,
    aPayload({ output: SPECIAL_TEXT, attributes: { only: 'c' }, resourceAttributes: {} }),
    withoutEvent,
  ];

  it('is read with its patterns', () => {
    expect(payloadsOfCalls(body)).toEqual(expected);
    expect(places(body, 6)).toEqual([...expected, undefined]);
  });

  it('is read after traces are removed', () => {
    const remaining = blankCalls(body, [traceId(0), traceId(2)]);
    expect(places(remaining, 5)).toEqual(
      expected.map((payload, index) => (index === 0 || index === 2 ? undefined : payload)),
    );
  });

  it.each([
    ['no pattern', `${traceId(0)}~["",""]`, 'A payload in a body of calls has no pattern.'],
    [
      'a pattern without the attribute',
      `#0[{},{}]\n${traceId(0)}~["","",1,"x"]`,
      'A payload changes an attribute that its pattern does not have.',
    ],
  ])('fails with %s', (_what, text, message) => {
    expect(() => payloadsOfCalls(bytes(text))).toThrow(message);
  });
});
