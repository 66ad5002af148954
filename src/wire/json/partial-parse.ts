import type { RequestBody, Shape, Unread } from '../../domain/inference/request-validation.ts';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';
import { asBuffer, cacheMembers, keyText } from './members.ts';
import { scanObject } from './scan.ts';

/** A JSON object that is fully validated and partially parsed. */
export interface PartiallyParsed {
  /** Members as JSON.parse returns them. An unread member is parsed at its first access. */
  readonly fields: RequestBody;
  readonly unread: Unread;
}

/** Minimum bytes of a member whose parsing is deferred. */
const MIN_DEFERRED_BYTES = 1024;

/** Shapes of values, by their first byte. */
const SHAPES: ReadonlyMap<number | undefined, Shape> = new Map([
  [QUOTE, 'text'],
  [OPEN_BRACKET, 'list'],
  [OPEN_BRACE, 'object'],
]);

const DATA_PROPERTY = { enumerable: true, configurable: true, writable: true } as const;

/** Property of an object with its deferred members, by key. */
const DEFERRED = Symbol('deferred');

interface DeferringObject {
  readonly [DEFERRED]: ReadonlyMap<string, DeferredMember>;
}

interface DeferredMember {
  readonly shape: Shape;
  readonly getter: PropertyDescriptor;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  value?: unknown;
}

/**
 * Getters of the members that may be large, by key. All objects share them, because V8 keeps getters with the hidden
 * class of the object. A getter per object would keep the body in memory until a full garbage collection.
 */
const DEFERRED_GETTERS: ReadonlyMap<string, PropertyDescriptor> = new Map(
  ['messages', 'contents', 'input', 'prompt', 'query', 'documents', 'system', 'tools'].map((key) => [
    key,
    {
      enumerable: true,
      configurable: true,
      get(this: DeferringObject) {
        return parseDeferred(this[DEFERRED].get(key));
      },
    },
  ]),
);

function parseDeferred(member: DeferredMember | undefined): unknown {
  if (member === undefined) return undefined;
  if (!('value' in member)) member.value = JSON.parse(member.bytes.toString('utf8', member.start, member.end));
  return member.value;
}

/**
 * Parses a JSON object, but defers its large members, whose strings are most of the cost of parsing. Members of
 * `overrides` replace those of the text. Null for text that must be parsed with JSON.parse instead. Deferred members
 * are read from `json` later, so the bytes must not change.
 */
export function parsePartially(json: Uint8Array, overrides: RequestBody): PartiallyParsed | null {
  const scanned = scanObject(json);
  if (scanned === null) return null;
  const bytes = asBuffer(json);
  const members = scanned.map((member) => ({ ...member, key: keyText(bytes, member.start, member.keyEnd) }));
  cacheMembers(json, members);
  const deferred = new Map<string, DeferredMember>();
  /** JSON text before `restStart`, with placeholders for the deferred members. */
  let textBefore = '';
  let restStart = 0;
  for (const { key, valueStart: start, end, allObjects } of members) {
    const shape = allObjects ? 'objects' : SHAPES.get(bytes[start]);
    const getter = end - start < MIN_DEFERRED_BYTES ? undefined : DEFERRED_GETTERS.get(key);
    // Of a repeated key the last value counts.
    deferred.delete(key);
    if (shape === undefined || getter === undefined) continue;
    deferred.set(key, { shape, getter, bytes, start, end });
    // The placeholder 0 keeps the order of the members.
    textBefore += `${bytes.toString('utf8', restStart, start)}0`;
    restStart = end;
  }
  const parsed = JSON.parse(textBefore + bytes.toString('utf8', restStart)) as Record<string, unknown>;
  for (const key of Object.keys(overrides)) {
    deferred.delete(key);
    parsed[key] = overrides[key];
  }
  return { fields: withDeferred(parsed, deferred), unread: deferred };
}

/**
 * `parsed` with getters in place of the placeholders. The object with getters is a copy. When a getter replaces a value
 * of an existing object, V8 turns the object into a hash table, and later reads are slow.
 */
function withDeferred(
  parsed: Readonly<Record<string, unknown>>,
  deferred: ReadonlyMap<string, DeferredMember>,
): RequestBody {
  if (deferred.size === 0) return Object.defineProperty(parsed, DEFERRED, { value: deferred });
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(parsed)) {
    const getter = deferred.get(key)?.getter;
    if (getter !== undefined) Object.defineProperty(fields, key, getter);
    // An assignment to `__proto__` would set the prototype.
    else if (key === '__proto__') Object.defineProperty(fields, key, { value: parsed[key], ...DATA_PROPERTY });
    else fields[key] = parsed[key];
  }
  return Object.defineProperty(fields, DEFERRED, { value: deferred });
}

/** Bytes of a member whose parsing was deferred; null for other members. Parses nothing. */
export function deferredBytes(fields: RequestBody, key: string): number | null {
  const { [DEFERRED]: deferred } = fields as RequestBody & Partial<DeferringObject>;
  const member = deferred?.get(key);
  return member === undefined || !DEFERRED_GETTERS.has(key) ? null : member.end - member.start;
}
