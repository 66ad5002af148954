/*
 * Tags of protobuf fields: `field number << 3 | wire type`, from the published opentelemetry-proto files. Each name
 * begins with the message that contains the field. Some messages have equal tags, so the message must be known.
 */

export const EXPORT_RESOURCE_SPANS = 0x0a;

export const RESOURCE_SPANS_RESOURCE = 0x0a;
export const RESOURCE_SPANS_SCOPE_SPANS = 0x12;

export const RESOURCE_ATTRIBUTE = 0x0a;

export const SCOPE_SPANS_SCOPE = 0x0a;
export const SCOPE_SPANS_SPAN = 0x12;

export const SCOPE_NAME = 0x0a;
export const SCOPE_VERSION = 0x12;
export const SCOPE_ATTRIBUTE = 0x1a;

export const SPAN_TRACE_ID = 0x0a;
export const SPAN_SPAN_ID = 0x12;
export const SPAN_PARENT_SPAN_ID = 0x22;
export const SPAN_NAME = 0x2a;
export const SPAN_KIND = 0x30;
export const SPAN_START_TIME = 0x39;
export const SPAN_END_TIME = 0x41;
export const SPAN_ATTRIBUTE = 0x4a;
export const SPAN_EVENT = 0x5a;
export const SPAN_LINK = 0x6a;
export const SPAN_STATUS = 0x7a;

export const STATUS_MESSAGE = 0x12;
export const STATUS_CODE = 0x18;

export const EVENT_TIME = 0x09;
export const EVENT_NAME = 0x12;
export const EVENT_ATTRIBUTE = 0x1a;

export const LINK_TRACE_ID = 0x0a;
export const LINK_SPAN_ID = 0x12;
export const LINK_ATTRIBUTE = 0x22;

export const ATTRIBUTE_KEY = 0x0a;
export const ATTRIBUTE_VALUE = 0x12;

export const VALUE_STRING = 0x0a;
export const VALUE_BOOL = 0x10;
export const VALUE_INT = 0x18;
export const VALUE_DOUBLE = 0x21;
export const VALUE_ARRAY = 0x2a;
export const VALUE_MAP = 0x32;
export const VALUE_BYTES = 0x3a;

export const ARRAY_VALUE = 0x0a;
export const MAP_ENTRY = 0x0a;
