import { InvalidInput } from '../../domain/errors.ts';
import { DEFAULT_OTLP_LIMITS, type OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { RawSpan } from '../../domain/traces/span.ts';
import { otlpMediaType } from './answer.ts';
import { decodeJson } from './decode-json.ts';
import { decodeProtobuf } from './decode-protobuf.ts';

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
  const mediaType = otlpMediaType(contentType);
  switch (mediaType) {
    case 'application/json':
      return decodeJson(body, limits);
    case 'application/x-protobuf':
    case 'application/protobuf':
      return decodeProtobuf(body, limits);
    default:
      throw new InvalidInput(`Unsupported media type '${mediaType}': send application/x-protobuf or application/json.`);
  }
}
