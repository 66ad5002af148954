import type { Ids } from '../../domain/clock.ts';
import type { GuardrailEntry } from '../../domain/guardrails/entry.ts';
import type { Span } from '../../domain/traces/span.ts';
import { MAX_VALUE_BYTES, truncateText } from '../../domain/traces/truncate.ts';

/** Maximum bytes of a span name, as for calls. */
const NAME_BYTES = 512;
const NS_PER_SECOND = 1e9;
const NS_PER_MICROSECOND = 1_000n;

/** Seconds in ns, rounded to microseconds: a double has no more digits of a Unix time. */
const nsOf = (seconds: number): bigint =>
  BigInt(Math.round((seconds * NS_PER_SECOND) / Number(NS_PER_MICROSECOND))) * NS_PER_MICROSECOND;

/** One span for each run of a guardrail, below the span of its call. */
export function guardrailSpans(
  call: Pick<Span, 'traceId' | 'spanId' | 'service' | 'resourceAttributes'>,
  entries: readonly GuardrailEntry[],
  ids: Pick<Ids, 'spanId'>,
): readonly Span[] {
  return entries.map((entry) => {
    const { guardrail_name: name, guardrail_status: status, guardrail_response: response } = entry;
    const startNs = nsOf(entry.start_time);
    return {
      traceId: call.traceId,
      spanId: ids.spanId(),
      parentSpanId: call.spanId,
      name: truncateText(`guardrail ${name}`, NAME_BYTES),
      kind: 'INTERNAL',
      type: 'guardrail',
      agent: '',
      service: call.service,
      startNs,
      endNs: startNs + nsOf(entry.duration),
      status: status === 'guardrail_failed_to_respond' ? 'error' : 'ok',
      error: status === 'guardrail_failed_to_respond' ? 'The guardrail failed to respond.' : null,
      model: null,
      provider: null,
      framework: '',
      inputTokens: 0,
      outputTokens: 0,
      inputPreview: '',
      requestId: null,
      callId: null,
      gateway: false,
      cost: null,
      estimate: null,
      source: null,
      input: '',
      output: truncateText(typeof response === 'string' ? response : JSON.stringify(response), MAX_VALUE_BYTES),
      attributes: {
        'guardrail.name': name,
        'guardrail.provider': entry.guardrail_provider,
        'guardrail.mode': entry.guardrail_mode,
        'guardrail.status': status,
        'guardrail.masked_entity_count': JSON.stringify(entry.masked_entity_count),
      },
      resourceAttributes: call.resourceAttributes,
      events: [],
      links: [],
    };
  });
}
