import { describe, expect, it } from 'vitest';
import {
  blankCalls,
  lineOfCall,
  lineOfPattern,
  patternText,
  payloadOfCall,
  payloadsOfCalls,
} from '../../../src/domain/traces/call-body.ts';
import { payloadOfText, payloadText } from '../../../src/domain/traces/span-rows.ts';
import type { SpanPayload } from '../../../src/domain/traces/span.ts';
import { patternOf, payloadsLike } from '../../../src/persistence/calls/payload.ts';

const ODD = 'a "quoted" \\ text, [~#\u{1F600}, \uD800, \0 and\nlines';
const VALUES = ['', 'usual', ODD];
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
const pattern = patternOf(aPayload(), []);
const write = payloadsLike(pattern);
const traceId = (at: number): string => String(at).padStart(32, '0');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The calls as a body has them. */
const bodyOf = (payloads: readonly SpanPayload[]): Uint8Array =>
  bytes(
    (
      lineOfPattern(0, patternText(pattern)) +
      payloads.map((payload, at) => lineOfCall(traceId(at), write(payload))).join('')
    ).slice(0, -1),
  );
/** What is kept of a payload, whatever way it is written. */
const kept = (payload: SpanPayload): SpanPayload => payloadOfText(payloadText(payload));

const ALIKE = VALUES.flatMap((first) => VALUES.flatMap((odd) => VALUES.map((last) => [first, odd, last] as const))).map(
  ([first, odd, last]) => aPayload({ attributes: { first, [ODD]: odd, last }, input: odd, output: last }),
);
const UNLIKE: readonly (readonly [what: string, fields: Partial<SpanPayload>])[] = [
  ['no attribute', { attributes: {} }],
  ['one attribute less', { attributes: { first: 'usual', [ODD]: 'usual' } }],
  ['one more', { attributes: { ...aPayload().attributes, more: ODD } }],
  ['another order', { attributes: { last: 'usual', [ODD]: 'usual', first: 'usual' } }],
  ['another resource', { resourceAttributes: { 'service.name': 'another' } }],
  ['an event', { events: [{ name: ODD, timeNs: 7n, attributes: { [ODD]: ODD } }] }],
  ['a link', { links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), attributes: {} }] }],
];

describe('a pattern', () => {
  it('has neither the names of the call it was made of, nor what its caller noted', () => {
    const attributes = {
      'litellm.call_id': 'mine',
      'session.id': 's',
      'user.id': 'u',
      'tag.tags': '["t"]',
      metadata: '{}',
    };
    expect(patternOf(aPayload({ attributes: { ...attributes, other: 'o' } }), ['mine'])).toEqual({
      attributes: { 'litellm.call_id': '', 'session.id': '', 'user.id': '', 'tag.tags': '', metadata: '', other: 'o' },
      resourceAttributes,
    });
  });
});

describe('payloads that are alike', () => {
  it('say what is their own, and are read as they were', () => {
    const body = bodyOf(ALIKE);
    expect(payloadsOfCalls(body)).toEqual(ALIKE.map(kept));
    expect(ALIKE.map((_, at) => payloadOfCall(body, at))).toEqual(ALIKE.map(kept));
    expect(write(aPayload({ attributes: { ...aPayload().attributes, last: 'other' } }))).toBe('~["","",2,"other"]');
  });

  it.each(UNLIKE)('are written whole with %s', (_what, fields) => {
    const payload = aPayload(fields);
    expect(write(payload)).toBe(payloadText(payload));
    const mixed = [aPayload(), payload, aPayload()];
    expect(payloadsOfCalls(bodyOf(mixed))).toEqual(mixed.map(kept));
    expect(payloadOfCall(bodyOf(mixed), 1)).toEqual(kept(payload));
  });

  it('may have no attributes', () => {
    const bare = aPayload({ attributes: {} });
    expect(payloadsLike(patternOf(bare, []))(bare)).toBe('~["",""]');
  });

  it('have a pattern that does not name the call it was made of', () => {
    const made = patternOf(aPayload({ attributes: { model: 'm', id: 'resp-1', call: 'call-1' } }), [
      'resp-1',
      null,
      'call-1',
    ]);
    expect(made).toEqual({ attributes: { model: 'm', id: '', call: '' }, resourceAttributes });
  });

  it('follow the last pattern before them', () => {
    const other = { attributes: { only: 'b' }, resourceAttributes: {} };
    const body = bytes(
      lineOfPattern(0, patternText(pattern)) +
        lineOfPattern(1, patternText(other)) +
        lineOfCall(traceId(0), write(aPayload())) +
        lineOfCall(traceId(1), payloadsLike(other)(aPayload(other))).slice(0, -1),
    );
    const wanted = [kept(aPayload()), kept(aPayload(other))];
    expect([payloadOfCall(body, 0), payloadOfCall(body, 1)]).toEqual(wanted);
    expect(payloadsOfCalls(body)).toEqual(wanted);
  });
});

describe('a body of calls', () => {
  it('keeps the places of the others when some are taken out of it', () => {
    const left = blankCalls(bodyOf(ALIKE.slice(0, 4)), [traceId(0), traceId(2)]);
    expect([0, 1, 2, 3, 4].map((at) => payloadOfCall(left, at))).toEqual([
      undefined,
      kept(ALIKE[1] ?? aPayload()),
      undefined,
      kept(ALIKE[3] ?? aPayload()),
      undefined,
    ]);
    expect(new TextDecoder().decode(left)).not.toContain(traceId(0));
  });

  it('of before there were patterns is read', () => {
    const payloads = [aPayload(), aPayload({ input: ODD })];
    const body = bytes(payloads.map((payload, at) => `${traceId(at)}${payloadText(payload)}`).join('\n'));
    expect(payloadsOfCalls(body)).toEqual(payloads.map(kept));
    expect(payloadOfCall(body, 1)).toEqual(kept(aPayload({ input: ODD })));
    expect(payloadOfCall(blankCalls(body, [traceId(0)]), 1)).toEqual(kept(aPayload({ input: ODD })));
  });
});
