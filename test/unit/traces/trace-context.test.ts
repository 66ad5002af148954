import { describe, expect, it } from 'vitest';
import { parseTraceparent } from '../../../src/domain/traces/trace-context.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

describe('traceparent', () => {
  it.each([`00-${TRACE_ID}-${SPAN_ID}-01`, ` 00-${TRACE_ID}-${SPAN_ID}-00 `, `01-${TRACE_ID}-${SPAN_ID}-01-more`])(
    'is read: %s',
    (header) => {
      expect(parseTraceparent(header)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID });
    },
  );

  it.each([
    undefined,
    '',
    'garbage',
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `01-${TRACE_ID}-${SPAN_ID}-01more`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}`,
  ])('is refused: %s', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});
