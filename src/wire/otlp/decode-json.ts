import { isJsonObject } from '../../domain/json-object.ts';
import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import { type RawSpan, SPAN_KINDS } from '../../domain/traces/span.ts';
import { type JsonObject, parseJson } from './json-text.ts';
import { attributesOf, enumOf, idOf, messageOf, messagesOf, nanosOf, textOf } from './json-values.ts';
import { type Allowance, allowanceOf, assertCount, spendMessage, spendSpan, undecodable } from './limits.ts';
import { assertLink, assertSpan, eventTime, spanKindOf, spanStatusOf } from './span-rules.ts';
import { textOrNull } from '../../domain/optional-text.ts';

const STATUS_CODES = ['UNSET', 'OK', 'ERROR'];

/**
 * Decodes an ExportTraceServiceRequest in JSON and passes its spans to `visit` in order. Accepts the variants in use:
 * ids in hex or base64, enums by number or name, 64-bit integers as text or number. With `wanted`, decodes only
 * the spans at these positions, from 0. Throws InvalidInput for an invalid request or span, and TooLarge above a limit.
 */
export function visitJson(
  body: Uint8Array,
  limits: OtlpLimits,
  visit: (span: RawSpan, position: number) => void,
  wanted: ReadonlySet<number> | null = null,
): void {
  const allowance = allowanceOf(limits);
  const request = parseJson(body, allowance);
  if (!isJsonObject(request)) throw undecodable('it is not a JSON object');
  let position = 0;
  for (const resourceSpans of messagesOf(request['resourceSpans'], 'resourceSpans')) {
    spendMessage(allowance);
    const resource = {
      attributes: attributesOf(messageOf(resourceSpans['resource'], 'resource')['attributes'], allowance),
    };
    for (const scopeSpans of messagesOf(resourceSpans['scopeSpans'], 'scopeSpans')) {
      spendMessage(allowance);
      const scope = readInstrumentationScope(messageOf(scopeSpans['scope'], 'scope'), allowance);
      for (const span of messagesOf(scopeSpans['spans'], 'spans')) {
        if (wanted === null || wanted.has(position))
          visit(readSpan(span, position, resource, scope, allowance), position);
        position++;
      }
    }
  }
}

function readInstrumentationScope(scope: JsonObject, allowance: Allowance): RawSpan['instrumentationScope'] {
  return {
    name: textOf(scope['name'], 'scope.name', allowance),
    version: textOf(scope['version'], 'scope.version', allowance),
    attributes: attributesOf(scope['attributes'], allowance),
  };
}

function readSpan(
  span: JsonObject,
  index: number,
  resource: RawSpan['resource'],
  instrumentationScope: RawSpan['instrumentationScope'],
  allowance: Allowance,
): RawSpan {
  spendSpan(allowance);
  const identity = {
    traceId: idOf(span['traceId'], 16, 'traceId'),
    spanId: idOf(span['spanId'], 8, 'spanId'),
    parentSpanId: idOf(span['parentSpanId'], 8, 'parentSpanId'),
    startNs: nanosOf(span['startTimeUnixNano'], 'startTimeUnixNano'),
    endNs: nanosOf(span['endTimeUnixNano'], 'endTimeUnixNano'),
  };
  assertSpan(identity, index);
  const status = messageOf(span['status'], 'status');
  const events = messagesOf(span['events'], 'events');
  const links = messagesOf(span['links'], 'links');
  assertCount(events.length, allowance.limits.events, 'events');
  assertCount(links.length, allowance.limits.links, 'links');
  return {
    ...identity,
    parentSpanId: textOrNull(identity.parentSpanId),
    name: textOf(span['name'], 'name', allowance),
    kind: spanKindOf(enumOf(span['kind'], 'SPAN_KIND_', SPAN_KINDS)),
    status: spanStatusOf(enumOf(status['code'], 'STATUS_CODE_', STATUS_CODES)),
    statusMessage: textOf(status['message'], 'status.message', allowance),
    attributes: attributesOf(span['attributes'], allowance),
    events: events.map((event) => readEvent(event, allowance)),
    links: links.map((link) => readLink(link, index, allowance)),
    resource,
    instrumentationScope,
  };
}

function readEvent(event: JsonObject, allowance: Allowance): RawSpan['events'][number] {
  spendMessage(allowance);
  return {
    name: textOf(event['name'], 'event.name', allowance),
    timeNs: eventTime(nanosOf(event['timeUnixNano'], 'timeUnixNano')),
    attributes: attributesOf(event['attributes'], allowance),
  };
}

function readLink(link: JsonObject, spanIndex: number, allowance: Allowance): RawSpan['links'][number] {
  spendMessage(allowance);
  const traceId = idOf(link['traceId'], 16, 'link.traceId');
  const spanId = idOf(link['spanId'], 8, 'link.spanId');
  assertLink(traceId, spanId, spanIndex);
  return { traceId, spanId, attributes: attributesOf(link['attributes'], allowance) };
}
