import type { PackedExport } from '../../src/domain/traces/packed.ts';
import { DEFAULT_OTLP_LIMITS } from '../../src/domain/traces/otlp-limits.ts';
import { packExport } from '../../src/ingest/pack-export.ts';
import { START_MS, spanId, traceId } from './samples.ts';

/** Packed export with one span of a new trace. */
export function anExport(trace: number, prompt: string): PackedExport {
  const span = {
    traceId: traceId(trace),
    spanId: spanId(1),
    name: 'chat demo',
    startTimeUnixNano: `${START_MS}000000`,
    endTimeUnixNano: `${START_MS}000000`,
    attributes: [{ key: 'gen_ai.prompt', value: { stringValue: prompt } }],
  };
  const bytes = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }));
  return packExport({ bytes, contentType: 'application/json', contentEncoding: undefined }, DEFAULT_OTLP_LIMITS);
}
