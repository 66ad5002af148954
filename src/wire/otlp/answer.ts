/** What an OTLP/HTTP exporter gets back. */
export interface OtlpAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
}

const PROTOBUF = 'application/x-protobuf';
/** Field 2, length-delimited: `message` of google.rpc.Status. */
const STATUS_MESSAGE_TAG = 0x12;

/** The media type of a Content-Type header, lower case and without parameters; protobuf when none was sent. */
export function otlpMediaType(contentType?: string): string {
  return contentType === undefined ? PROTOBUF : (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** An empty ExportTraceServiceResponse, in the encoding of the request. */
export function encodeOtlpSuccess(contentType?: string): OtlpAnswer {
  return speaksJson(contentType)
    ? { contentType: 'application/json', body: new TextEncoder().encode('{}') }
    : { contentType: PROTOBUF, body: new Uint8Array(0) };
}

/** A failure, in the encoding of the request: a JSON `message`, or a google.rpc.Status for all others. */
export function encodeOtlpError(message: string, contentType?: string): OtlpAnswer {
  if (speaksJson(contentType))
    return { contentType: 'application/json', body: new TextEncoder().encode(JSON.stringify({ message })) };
  const text = new TextEncoder().encode(message);
  return { contentType: PROTOBUF, body: Uint8Array.of(STATUS_MESSAGE_TAG, ...varint(text.length), ...text) };
}

const speaksJson = (contentType?: string): boolean => otlpMediaType(contentType) === 'application/json';

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return bytes;
}
