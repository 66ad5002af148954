import { InvalidInput } from '../../domain/errors.ts';
import { DEFAULT_OTLP_LIMITS, type OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { RawSpan } from '../../domain/traces/span.ts';
import { otlpMediaType } from './answer.ts';
import { decodeJson } from './decode-json.ts';
import { decodeProtobuf } from './decode-protobuf.ts';
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
 * The spans of an export, by the Content-Type it came with; none means protobuf. Throws InvalidInput for
 * another media type, a body that cannot be decoded or an invalid span, and TooLarge for a crossed limit:
 * an export is taken whole or not at all.
 */
export function decodeExport(
  body: Uint8Array,
  contentType?: string,
  limits: OtlpLimits = DEFAULT_OTLP_LIMITS,
): readonly RawSpan[] {
  return otlpFormat(contentType) === 'json' ? decodeJson(body, limits) : decodeProtobuf(body, limits);
}

/** One span of a body that was accepted before, by its position in it, from 0; undefined when it has fewer. */
export function decodeSpan(body: Uint8Array, format: Format, position: number): RawSpan | undefined {
  const decode = format === 'json' ? decodeJson : decodeProtobuf;
  return decode(body, NO_LIMITS, position)[0];
}
