import type { RequestBody, Shape, Unread } from '../../domain/inference/askable.ts';
import { asBuffer, keepMembers, keyText } from './members.ts';
import { scanObject } from './scan.ts';

/** A JSON object that was checked as a whole, and parsed in part. */
export interface PartlyRead {
  /** Its members as JSON.parse gives them; one that is unread is parsed when it is first asked for. */
  readonly fields: RequestBody;
  readonly unread: Unread;
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
  readonly [LEFT]: ReadonlyMap<string, Left>;
}

interface Left {
  readonly shape: Shape;
  readonly reader: PropertyDescriptor;
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
  const left = new Map<string, Left>();
  let rest = '';
  let from = 0;
  for (const { key, valueStart: start, end, allObjects } of members) {
    const shape = allObjects ? 'objects' : SHAPES.get(bytes[start]);
    const reader = end - start < LARGE_MEMBER ? undefined : READERS.get(key);
    // The last of several with one key is meant.
    left.delete(key);
    if (shape === undefined || reader === undefined) continue;
    left.set(key, { shape, reader, bytes, start, end });
    // A stand-in keeps the member's place among the others.
    rest += `${bytes.toString('utf8', from, start)}0`;
    from = end;
  }
  const fields = JSON.parse(rest + bytes.toString('utf8', from)) as Record<string, unknown>;
  for (const key of Object.keys(named)) {
    left.delete(key);
    fields[key] = named[key];
  }
  for (const [key, { reader }] of left) Object.defineProperty(fields, key, reader);
  return { fields: Object.defineProperty(fields, LEFT, { value: left }), unread: left };
}
