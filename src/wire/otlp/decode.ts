import { InvalidInput } from '../../domain/errors.ts';
import { DEFAULT_OTLP_LIMITS, type OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { RawSpan } from '../../domain/traces/span.ts';
import { otlpMediaType } from './answer.ts';
import { visitJson } from './decode-json.ts';
import { visitProtobuf } from './decode-protobuf.ts';
import { NO_LIMITS } from './limits.ts';

/** How the body of an export is written. */
type Format = 'protobuf' | 'json';

/** The format that a Content-Type names; none means protobuf. Throws InvalidInput for another media type. */
export function otlpFormat(contentType?: string): Format {
  const mediaType = otlpMediaType(contentType);
  switch (mediaType) {
    case 'application/json':
      return 'json';
    case 'application/x-protobuf':
    case 'application/protobuf':
      return 'protobuf';
    default:
      throw new InvalidInput(`Unsupported media type '${mediaType}': send application/x-protobuf or application/json.`);
  }
}

/**
 * Hands on the spans of an export one after the other, each with its position, by the Content-Type it came with; none
 * means protobuf. Throws InvalidInput for another media type, a body that cannot be decoded or an invalid span, and
 * TooLarge for a crossed limit, perhaps behind some spans: an export is taken whole or not at all.
 */
export function visitExport(
  {
    body,
    contentType,
    limits,
  }: { readonly body: Uint8Array; readonly contentType: string | undefined; readonly limits: OtlpLimits },
  visit: (span: RawSpan, position: number) => void,
): void {
  const visitIn = otlpFormat(contentType) === 'json' ? visitJson : visitProtobuf;
  visitIn(body, limits, visit);
}

/** All spans of an export at once. */
export function decodeExport(
  body: Uint8Array,
  contentType?: string,
  limits: OtlpLimits = DEFAULT_OTLP_LIMITS,
): readonly RawSpan[] {
  const spans: RawSpan[] = [];
  visitExport({ body, contentType, limits }, (span) => spans.push(span));
  return spans;
}

/** One span of a body that was accepted before, by its position in it, from 0; undefined when it has fewer. */
export function decodeSpan(body: Uint8Array, format: Format, position: number): RawSpan | undefined {
  let wanted: RawSpan | undefined;
  const visitIn = format === 'json' ? visitJson : visitProtobuf;
  visitIn(body, NO_LIMITS, (span) => (wanted = span), position);
  return wanted;
}
