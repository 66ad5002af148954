import { isJsonObject } from '../../domain/json-object.ts';
import { cursorOver, readLength, readText, readVarint, skipField } from './protobuf.ts';

/** Body with its media type: a response to an OTLP/HTTP exporter, or an export. */
export interface OtlpBody {
  readonly contentType: string;
  readonly body: Uint8Array;
}

const PROTOBUF = 'application/x-protobuf';
/** Tag of `google.rpc.Status.message`: field 2, length-delimited. */
const STATUS_MESSAGE_TAG = 0x12;

/** Media type of a Content-Type header, in lower case and without parameters. Protobuf when there is no header. */
export function otlpMediaType(contentType?: string): string {
  return contentType === undefined ? PROTOBUF : (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Empty ExportTraceServiceResponse in the encoding of the request. */
export function encodeOtlpSuccess(contentType?: string): OtlpBody {
  return isJson(contentType)
    ? { contentType: 'application/json', body: new TextEncoder().encode('{}') }
    : { contentType: PROTOBUF, body: new Uint8Array(0) };
}

/** Error body: an object with `message` for JSON requests, a google.rpc.Status in protobuf for all others. */
export function encodeOtlpError(message: string, contentType?: string): OtlpBody {
  if (isJson(contentType))
    return { contentType: 'application/json', body: new TextEncoder().encode(JSON.stringify({ message })) };
  const text = new TextEncoder().encode(message);
  return { contentType: PROTOBUF, body: Uint8Array.of(STATUS_MESSAGE_TAG, ...varint(text.length), ...text) };
}

const isJson = (contentType?: string): boolean => otlpMediaType(contentType) === 'application/json';

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

/** Spans that a collector rejected in an accepted export, with its reason. 0 when it reports none. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly message: string;
}

const FULL_SUCCESS: PartialSuccess = { rejectedSpans: 0, message: '' };

/** Reads the answer to an accepted export. Its status is 2xx, so an unreadable body means full success. */
export function readPartialSuccess(body: Uint8Array, contentType?: string): PartialSuccess {
  if (body.length === 0) return FULL_SUCCESS;
  try {
    return isJson(contentType) ? partialInJson(body) : partialInProtobuf(body);
  } catch {
    return FULL_SUCCESS;
  }
}

function partialInJson(body: Uint8Array): PartialSuccess {
  const answer: unknown = JSON.parse(new TextDecoder().decode(body));
  const partial: unknown = isJsonObject(answer) ? answer['partialSuccess'] : null;
  if (!isJsonObject(partial)) return FULL_SUCCESS;
  const { rejectedSpans, errorMessage } = partial;
  const count = Number(rejectedSpans);
  return {
    rejectedSpans: Number.isSafeInteger(count) && count > 0 ? count : 0,
    message: typeof errorMessage === 'string' ? errorMessage : '',
  };
}

/** Tag of `ExportTraceServiceResponse.partial_success`: field 1, length-delimited. */
const PARTIAL_SUCCESS_TAG = 0x0a;
/** Tag of `ExportTracePartialSuccess.rejected_spans`: field 1, a varint. */
const REJECTED_SPANS_TAG = 0x08;
/** Tag of `ExportTracePartialSuccess.error_message`: field 2, length-delimited. */
const ERROR_MESSAGE_TAG = 0x12;

function partialInProtobuf(body: Uint8Array): PartialSuccess {
  const cursor = cursorOver(body);
  let rejectedSpans = 0;
  let message = '';
  while (cursor.at < body.length) {
    const tag = readVarint(cursor, body.length);
    if (tag !== PARTIAL_SUCCESS_TAG) {
      skipField(cursor, tag, body.length);
      continue;
    }
    const end = readLength(cursor, body.length);
    while (cursor.at < end) {
      const innerTag = readVarint(cursor, end);
      if (innerTag === REJECTED_SPANS_TAG) rejectedSpans = readVarint(cursor, end);
      else if (innerTag === ERROR_MESSAGE_TAG) message = readText(cursor, readLength(cursor, end));
      else skipField(cursor, innerTag, end);
    }
  }
  return { rejectedSpans, message };
}
