import { isObject } from './json-text.ts';
import { cursorOver, readLength, readText, readVarint, skipField } from './protobuf.ts';

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

/** How many spans a receiver says it left out of an export it took, and why; zero when it does not say. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly message: string;
}

const TOOK_ALL: PartialSuccess = { rejectedSpans: 0, message: '' };

/** Reads the answer to an export that was taken. What is no such answer says nothing: the export was taken. */
export function readPartialSuccess(body: Uint8Array, contentType?: string): PartialSuccess {
  if (body.length === 0) return TOOK_ALL;
  try {
    return speaksJson(contentType) ? partialInJson(body) : partialInProtobuf(body);
  } catch {
    return TOOK_ALL;
  }
}

function partialInJson(body: Uint8Array): PartialSuccess {
  const answer: unknown = JSON.parse(new TextDecoder().decode(body));
  const partial: unknown = isObject(answer) ? answer['partialSuccess'] : null;
  if (!isObject(partial)) return TOOK_ALL;
  const { rejectedSpans, errorMessage } = partial;
  const count = Number(rejectedSpans);
  return {
    rejectedSpans: Number.isSafeInteger(count) && count > 0 ? count : 0,
    message: typeof errorMessage === 'string' ? errorMessage : '',
  };
}

/** `partial_success { rejected_spans, error_message }`, field 1 of the answer. */
function partialInProtobuf(body: Uint8Array): PartialSuccess {
  const cursor = cursorOver(body);
  let rejectedSpans = 0;
  let message = '';
  while (cursor.at < body.length) {
    const tag = readVarint(cursor, body.length);
    if (tag !== 0x0a) {
      skipField(cursor, tag, body.length);
      continue;
    }
    const end = readLength(cursor, body.length);
    while (cursor.at < end) {
      const field = readVarint(cursor, end);
      if (field === 0x08) rejectedSpans = readVarint(cursor, end);
      else if (field === 0x12) message = readText(cursor, readLength(cursor, end));
      else skipField(cursor, field, end);
    }
  }
  return { rejectedSpans, message };
}
