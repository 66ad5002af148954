import type { Attributes, AttributeValue } from '../../domain/traces/span.ts';
import { type Allowance, assertCount, assertDepth, setAttribute, spendNode, spendValue } from './span-rules.ts';
import { type ProtoCursor, readDouble, readInt64, readLength, readVarint, skipField } from './protobuf.ts';
import {
  ARRAY_VALUE,
  ATTRIBUTE_KEY,
  ATTRIBUTE_VALUE,
  MAP_ENTRY,
  VALUE_ARRAY,
  VALUE_BOOL,
  VALUE_BYTES,
  VALUE_DOUBLE,
  VALUE_INT,
  VALUE_MAP,
  VALUE_STRING,
} from './tags.ts';
import { readInterned } from './text-cache.ts';

/** Cursor over a protobuf body with the remaining budget of its export. */
export interface ValueReader extends ProtoCursor {
  readonly allowance: Allowance;
}

/** Reads the tag of the next field and charges one node. */
export function nextTag(reader: ValueReader, end: number): number {
  spendNode(reader.allowance);
  return readVarint(reader, end);
}

/** Reads a text field and charges its bytes. */
export function readString(reader: ValueReader, end: number): string {
  const after = readLength(reader, end);
  spendValue(reader.allowance, after - reader.at);
  return readInterned(reader, after);
}

/**
 * Reads one attribute and adds it to `attributes`. `count` is its position in the list, from 1. `depth` is its nesting
 * level in the export.
 */
export function readAttribute(
  reader: ValueReader,
  end: number,
  attributes: Record<string, AttributeValue>,
  count: number,
  depth: number,
): void {
  assertCount(count, reader.allowance.limits.attributes, 'attributes');
  readKeyValue(reader, end, attributes, depth);
}

function readKeyValue(reader: ValueReader, end: number, target: Record<string, AttributeValue>, depth: number): void {
  assertDepth(reader.allowance, depth);
  let key = '';
  let value: AttributeValue = null;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === ATTRIBUTE_KEY) key = readString(reader, end);
    else if (tag === ATTRIBUTE_VALUE) value = readAnyValue(reader, readLength(reader, end), depth + 1);
    else skipField(reader, tag, end);
  }
  setAttribute(target, key, value);
}

function readAnyValue(reader: ValueReader, end: number, depth: number): AttributeValue {
  const { allowance } = reader;
  assertDepth(allowance, depth);
  let value: AttributeValue = null;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    switch (tag) {
      case VALUE_STRING:
        value = readString(reader, end);
        continue;
      case VALUE_BOOL:
        value = readVarint(reader, end) !== 0;
        break;
      case VALUE_INT:
        value = readInt64(reader, end);
        break;
      case VALUE_DOUBLE:
        value = readDouble(reader, end);
        break;
      case VALUE_ARRAY:
        value = readArray(reader, readLength(reader, end), depth + 1);
        break;
      case VALUE_MAP:
        value = readMap(reader, readLength(reader, end), depth + 1);
        break;
      case VALUE_BYTES: {
        const after = readLength(reader, end);
        spendValue(allowance, after - reader.at);
        // A copy, so that a small value does not keep the whole body in memory.
        value = new Uint8Array(reader.bytes.subarray(reader.at, after));
        reader.at = after;
        continue;
      }
      default:
        skipField(reader, tag, end);
        continue;
    }
    // Texts and bytes are charged by their size, and do not reach this line.
    spendValue(allowance, 0);
  }
  return value;
}

function readArray(reader: ValueReader, end: number, depth: number): readonly AttributeValue[] {
  assertDepth(reader.allowance, depth);
  const values: AttributeValue[] = [];
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === ARRAY_VALUE) values.push(readAnyValue(reader, readLength(reader, end), depth + 1));
    else skipField(reader, tag, end);
  }
  return values;
}

function readMap(reader: ValueReader, end: number, depth: number): Attributes {
  assertDepth(reader.allowance, depth);
  const entries: Record<string, AttributeValue> = {};
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === MAP_ENTRY) readKeyValue(reader, readLength(reader, end), entries, depth + 1);
    else skipField(reader, tag, end);
  }
  return entries;
}
