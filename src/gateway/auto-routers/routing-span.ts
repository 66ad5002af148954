import type { RoutingDecision } from '../../domain/auto-routers/routing-decision.ts';
import type { Ids } from '../../domain/clock.ts';
import type { Span } from '../../domain/traces/span.ts';
import { truncateText } from '../../domain/traces/truncate.ts';

/** Maximum size of a span name, in bytes: the same as for the spans of calls. */
const MAX_NAME_BYTES = 512;
const NS_PER_MS = 1e6;

/** The span of a decision, as a child of the span of its call. It contains no text of the call. */
export function routingSpan(
  call: Pick<Span, 'traceId' | 'spanId' | 'service' | 'resourceAttributes'>,
  decision: RoutingDecision,
  ids: Pick<Ids, 'spanId'>,
): Span {
  const startNs = BigInt(decision.startedAt) * BigInt(NS_PER_MS);
  return {
    traceId: call.traceId,
    spanId: ids.spanId(),
    parentSpanId: call.spanId,
    name: truncateText(`route ${decision.router}`, MAX_NAME_BYTES),
    kind: 'INTERNAL',
    type: 'chain',
    agent: '',
    service: call.service,
    startNs,
    endNs: startNs + BigInt(Math.round(decision.durationMs * NS_PER_MS)),
    status: 'ok',
    error: null,
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
    output: '',
    attributes: attributesOf(decision),
    resourceAttributes: call.resourceAttributes,
    events: [],
    links: [],
  };
}

function attributesOf(decision: RoutingDecision): Record<string, string> {
  const { tier, score, probability } = decision;
  return {
    'router.name': decision.router,
    'router.id': decision.routerId,
    'router.classifier': decision.classifier,
    'router.model': decision.model,
    'router.cause': decision.cause,
    'router.signals': JSON.stringify(decision.signals),
    ...(tier === null ? {} : { 'router.tier': tier }),
    ...(score === undefined ? {} : { 'router.score': String(score) }),
    ...(probability === undefined ? {} : { 'router.probability': String(probability) }),
  };
}
