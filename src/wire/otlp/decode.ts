import { InvalidInput } from '../../domain/errors.ts';
import { DEFAULT_OTLP_LIMITS, type OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { RawSpan } from '../../domain/traces/span.ts';
import { otlpMediaType } from './answer.ts';
import { visitJson } from './decode-json.ts';
import { visitProtobuf } from './decode-protobuf.ts';
import { NO_LIMITS } from './span-rules.ts';

/** Encoding of an export. */
type Format = 'protobuf' | 'json';

/** Encoding for a Content-Type. Protobuf when there is none. Throws InvalidInput for another media type. */
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
 * Decodes an export and passes its spans to `visit` in order, each with its position from 0. The encoding follows from
 * the Content-Type. Throws InvalidInput for another media type, an undecodable body or an invalid span. Throws TooLarge
 * above a limit. When it throws, the spans that it has passed to `visit` must be discarded.
 */
export function visitExport(
  {
    body,
    contentType,
    limits,
  }: { readonly body: Uint8Array; readonly contentType: string | undefined; readonly limits: OtlpLimits },
  visit: (span: RawSpan, position: number) => void,
): void {
  const visitSpans = otlpFormat(contentType) === 'json' ? visitJson : visitProtobuf;
  visitSpans(body, limits, visit);
}

/** Decodes all spans of an export. Throws what `visitExport` throws. */
export function decodeExport(
  body: Uint8Array,
  contentType?: string,
  limits: OtlpLimits = DEFAULT_OTLP_LIMITS,
): readonly RawSpan[] {
  const spans: RawSpan[] = [];
  visitExport({ body, contentType, limits }, (span) => spans.push(span));
  return spans;
}

/**
 * Decodes spans of a stored body, by their positions from 0, without limits. Positions after the last span are ignored.
 */
export function decodeSpans(
  body: Uint8Array,
  format: Format,
  positions: readonly number[],
): ReadonlyMap<number, RawSpan> {
  const spans = new Map<number, RawSpan>();
  const addSpan = (span: RawSpan, position: number): void => {
    spans.set(position, span);
  };
  const visitSpans = format === 'json' ? visitJson : visitProtobuf;
  visitSpans(body, NO_LIMITS, addSpan, new Set(positions));
  return spans;
}
