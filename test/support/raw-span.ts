import type { Attributes, RawSpan } from '../../src/domain/traces/span.ts';

/** Ordinary decoded span, before its attributes are interpreted by a naming convention. */
export function aRawSpan(overrides: Partial<RawSpan> = {}): RawSpan {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    parentSpanId: null,
    name: 'step',
    kind: 'INTERNAL',
    startNs: 1_760_000_000_000_000_000n,
    endNs: 1_760_000_002_000_000_000n,
    status: 'unset',
    statusMessage: '',
    attributes: {},
    events: [],
    links: [],
    resource: { attributes: {} },
    instrumentationScope: { name: '', version: '', attributes: {} },
    ...overrides,
  };
}

/** Span event at the start time of `aRawSpan`. */
export const anEvent = (name: string, attributes: Attributes) => ({
  name,
  timeNs: 1_760_000_000_000_000_000n,
  attributes,
});
