import type { RequestBody, Shape } from '../../domain/inference/askable.ts';
import { asBuffer, keepMembers, keyText } from './members.ts';
import { scanObject } from './scan.ts';

/** A JSON object that was checked as a whole, and parsed in part. */
export interface PartlyRead {
  /** Its members as JSON.parse gives them; one that is unread is parsed when it is first asked for. */
  readonly fields: RequestBody;
  /** What those are that were left unread, by their keys. */
  readonly unread: ReadonlyMap<string, Shape>;
}

/** Bytes of a member that is worth leaving. */
const LARGE_MEMBER = 1024;

const SHAPES: ReadonlyMap<number | undefined, Shape> = new Map([
  [0x22, 'text'],
  [0x5b, 'list'],
  [0x7b, 'object'],
]);

/** Where an object keeps what is not parsed yet, by its keys. */
const LEFT = Symbol('left unread');

interface Holder {
  readonly [LEFT]: Map<string, Left>;
}

interface Left {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  value?: unknown;
}

/**
 * The members that may be large, and how each is read. A getter made for every object would be worse than useless: V8 keeps
 * getters with the object's map, and with them the bytes they hold, until it looks through the whole heap.
 */
const READERS: ReadonlyMap<string, PropertyDescriptor> = new Map(
  ['messages', 'contents', 'input', 'prompt', 'query', 'documents', 'system', 'tools'].map((key) => [
    key,
    {
      enumerable: true,
      configurable: true,
      get(this: Holder) {
        return readLeft(this[LEFT].get(key));
      },
    },
  ]),
);

function readLeft(left: Left | undefined): unknown {
  if (left === undefined) return undefined;
  if (!('value' in left)) left.value = JSON.parse(left.bytes.toString('utf8', left.start, left.end));
  return left.value;
}

/**
 * A JSON object without the strings of its large members, which cost most of what parsing costs; what `named` says is meant,
 * whatever is sent. Null for text that JSON.parse has to judge. The bytes are read again later, and may not change until then.
 */
export function readPartly(json: Uint8Array, named: RequestBody): PartlyRead | null {
  const scanned = scanObject(json);
  if (scanned === null) return null;
  const bytes = asBuffer(json);
  const members = scanned.map((member) => ({ ...member, key: keyText(bytes, member.start, member.keyEnd) }));
  keepMembers(json, members);
  const fields = {};
  const left = new Map<string, Left>();
  const unread = new Map<string, Shape>();
  Object.defineProperty(fields, LEFT, { value: left });
  for (const { key, valueStart: start, end, allObjects } of members) {
    const reader = end - start < LARGE_MEMBER || Object.hasOwn(named, key) ? undefined : READERS.get(key);
    const shape = allObjects ? 'objects' : SHAPES.get(bytes[start]);
    // The last of several with one key is meant.
    unread.delete(key);
    if (reader === undefined || shape === undefined) {
      define(fields, key, JSON.parse(bytes.toString('utf8', start, end)));
      continue;
    }
    left.set(key, { bytes, start, end });
    unread.set(key, shape);
    Object.defineProperty(fields, key, reader);
  }
  for (const [key, value] of Object.entries(named)) define(fields, key, value);
  return { fields, unread };
}

/** Sets a member as JSON.parse does: `__proto__` is a name like others. */
function define(fields: object, key: string, value: unknown): void {
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}
