import { describe, expect, it } from 'vitest';
import { blankCalls, lineOfCall, payloadOfCall, payloadsOfCalls } from '../../../src/domain/traces/call-body.ts';
import { payloadOfText, payloadText } from '../../../src/domain/traces/span-rows.ts';
import type { SpanPayload } from '../../../src/domain/traces/span.ts';

const ODD = 'a "quoted" \\ text, [~#\u{1F600}, \uD800, \0 and\nlines';
const resourceAttributes = { 'service.name': ODD };

const aPayload = (fields: Partial<SpanPayload> = {}): SpanPayload => ({
  input: '',
  output: '',
  attributes: { first: 'usual', [ODD]: 'usual', last: 'usual' },
  resourceAttributes,
  events: [],
  links: [],
  ...fields,
});
const PAYLOADS: readonly SpanPayload[] = [
  aPayload(),
  aPayload({ input: ODD, output: ODD, attributes: { [ODD]: ODD } }),
  aPayload({ attributes: {}, resourceAttributes: {} }),
  aPayload({ events: [{ name: ODD, timeNs: 7n, attributes: { [ODD]: ODD } }] }),
  aPayload({ links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), attributes: {} }] }),
];
const traceId = (at: number): string => String(at).padStart(32, '0');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** A payload in its stored form. */
const stored = (payload: SpanPayload): SpanPayload => payloadOfText(payloadText(payload));
const places = (body: Uint8Array, count: number) => Array.from({ length: count }, (_, at) => payloadOfCall(body, at));

describe('a body of calls', () => {
  const body = bytes(
    PAYLOADS.map((payload, at) => lineOfCall(traceId(at), payloadText(payload)))
      .join('')
      .slice(0, -1),
  );

  it('has each payload at its position', () => {
    expect(payloadsOfCalls(body)).toEqual(PAYLOADS.map(stored));
    expect(places(body, PAYLOADS.length + 1)).toEqual([...PAYLOADS.map(stored), undefined]);
  });

  it('keeps the positions of the other payloads when traces are removed', () => {
    const remaining = blankCalls(body, [traceId(0), traceId(2)]);
    expect(places(remaining, 5)).toEqual(
      PAYLOADS.map((payload, at) => (at === 0 || at === 2 ? undefined : stored(payload))),
    );
    expect(new TextDecoder().decode(remaining)).not.toContain(traceId(0));
  });
});

describe('a body of calls of an earlier version', () => {
  const [whole, other] = [aPayload({ events: [{ name: 'e', timeNs: 7n, attributes: {} }] }), aPayload()];
  const body = bytes(
    [
      `#0${JSON.stringify([{ model: 'm', id: '', odd: ODD }, resourceAttributes])}`,
      '#3[{"only":"b"},{}]',
      `${traceId(0)}~["in","out"]`,
      `${traceId(1)}~["","",1,"resp-1",2,${JSON.stringify(ODD)}]`,
      `${traceId(2)}${payloadText(whole)}`,
      `${traceId(3)}~["",${JSON.stringify(ODD)},0,"c"]`,
      `${traceId(4)}${payloadText(other)}`,
    ].join('\n'),
  );
  const read: readonly SpanPayload[] = [
    aPayload({ input: 'in', output: 'out', attributes: { model: 'm', id: '', odd: ODD } }),
    aPayload({ attributes: { model: 'm', id: 'resp-1', odd: ODD } }),
    whole,
    aPayload({ output: ODD, attributes: { only: 'c' }, resourceAttributes: {} }),
    other,
  ].map(stored);

  it('is read with its patterns', () => {
    expect(payloadsOfCalls(body)).toEqual(read);
    expect(places(body, 6)).toEqual([...read, undefined]);
  });

  it('is read after traces are removed', () => {
    const remaining = blankCalls(body, [traceId(0), traceId(2)]);
    expect(places(remaining, 5)).toEqual(read.map((payload, at) => (at === 0 || at === 2 ? undefined : payload)));
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
