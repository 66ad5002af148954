import { isJsonObject } from '../json-object.ts';
import type { ObjectKind, ShownObject } from './upstream-object.ts';

/** Members of an object that contain file ids. */
const FILE_MEMBERS = ['input_file_id', 'output_file_id', 'error_file_id'] as const;

/** Members of an object with the id of another object of the same upstream. */
const SOURCE_MEMBERS = ['remixed_from_video_id'] as const;

/** An id of printable ASCII without spaces. `.` and `..` are refused, because a path reads them as directories. */
const ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,256}$/;

/** An object with its ids. */
export interface ReadObject {
  readonly shown: ShownObject;
  readonly id: string;
  /** Ids of its files, by member. */
  readonly files: Readonly<Record<string, string>>;
}

/** Reads an upstream object from the body of an answer; null when it is not one. */
export function readObject(kind: ObjectKind, body: Uint8Array | null): ReadObject | null {
  const value = parsed(body);
  if (!isJsonObject(value)) return null;
  const shown: ShownObject = value;
  const { id, object } = shown;
  if (typeof id !== 'string' || !ID.test(id)) return null;
  if (object !== undefined && object !== kind && object !== `${kind}.deleted`) return null;
  return { shown, id, files: filesOf(shown) };
}

function parsed(body: Uint8Array | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** Ids of an object's files, by member. */
export const filesOf = (shown: ShownObject): Readonly<Record<string, string>> => idsIn(shown, FILE_MEMBERS);

/** Ids of the objects that an object was made from, by member. */
export const sourcesOf = (shown: ShownObject): Readonly<Record<string, string>> => idsIn(shown, SOURCE_MEMBERS);

function idsIn(shown: ShownObject, members: readonly string[]): Readonly<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const member of members) {
    const id = shown[member];
    if (typeof id === 'string' && ID.test(id)) ids[member] = id;
  }
  return ids;
}

/**
 * The object with our ids in place of the upstream's. `ourIds` has our id of a file, or of a source, by its upstream
 * id. One without our id becomes null.
 */
export function withOurIds(shown: ShownObject, id: string, ourIds: ReadonlyMap<string, string>): ShownObject {
  const renamed: Record<string, unknown> = { ...shown, id };
  for (const member of [...FILE_MEMBERS, ...SOURCE_MEMBERS])
    if (typeof shown[member] === 'string') renamed[member] = ourIds.get(shown[member]) ?? null;
  return renamed;
}

const FINAL = new Set<unknown>(['completed', 'failed', 'expired', 'cancelled']);

/** Whether the object may still change upstream. */
export function mayChange(kind: ObjectKind, shown: ShownObject | null): boolean {
  return shown === null || ((kind === 'batch' || kind === 'video') && !FINAL.has(shown['status']));
}
