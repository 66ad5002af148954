import { describe, expect, it } from 'vitest';
import { payloadText } from '../../../src/domain/traces/span-rows.ts';
import type { SpanPayload } from '../../../src/domain/traces/span.ts';
import { payloadsLike } from '../../../src/persistence/stores/call-payload.ts';

const ODD = 'a "quoted" \\ text, \u{1F600}, \uD800, \0 and\nlines';
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
const write = payloadsLike(aPayload());

describe('the writer of payloads that are alike', () => {
  it.each(VALUES.flatMap((first) => VALUES.flatMap((odd) => VALUES.map((last) => [first, odd, last]))))(
    'writes the values %j, %j and %j as JSON has them',
    (first = '', odd = '', last = '') => {
      const payload = aPayload({ attributes: { first, [ODD]: odd, last }, input: odd, output: last });
      // Twice: what it had to write the first time it knows the second.
      expect([write(payload), write(payload)]).toEqual([payloadText(payload), payloadText(payload)]);
    },
  );

  it.each<[string, Partial<SpanPayload>]>([
    ['no attribute', { attributes: {} }],
    ['one attribute less', { attributes: { first: 'usual', [ODD]: 'usual' } }],
    ['one more', { attributes: { ...aPayload().attributes, more: ODD } }],
    ['another order', { attributes: { last: 'usual', [ODD]: 'usual', first: 'usual' } }],
    ['another resource', { resourceAttributes: { 'service.name': 'another' } }],
    ['an event', { events: [{ name: ODD, timeNs: 7n, attributes: { [ODD]: ODD } }] }],
    ['a link', { links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), attributes: {} }] }],
  ])('writes a payload with %s whole', (_what, fields) => {
    expect(write(aPayload(fields))).toBe(payloadText(aPayload(fields)));
  });

  it('begins with a payload without attributes', () => {
    const bare = aPayload({ attributes: {} });
    expect(payloadsLike(bare)(bare)).toBe(payloadText(bare));
  });
});
