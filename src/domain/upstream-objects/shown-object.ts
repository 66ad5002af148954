import { isJsonObject, jsonObjectOf } from '../json-object.ts';
import { pendingSinceMs } from './pending-usage.ts';
import { OBJECT_MEMBERS, type ObjectKind, type ShownObject } from './upstream-object.ts';

/** Members of an object that contain file ids. */
const FILE_MEMBERS = ['input_file_id', 'output_file_id', 'error_file_id', 'training_file', 'validation_file'] as const;

/** Members of an object that are lists of file ids. */
const FILE_LISTS = ['result_files'] as const;

/** Members of an object with the id of another object of the same upstream. */
const SOURCE_MEMBERS = ['remixed_from_video_id'] as const;

/** An id of printable ASCII without spaces. `.` and `..` are refused, because a path reads them as directories. */
const ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,256}$/;

/** Whether an id can be a segment of a path at an upstream. */
export const isUpstreamId = (id: string): boolean => ID.test(id);

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
  const name = OBJECT_MEMBERS[kind];
  if (object !== undefined && object !== name && object !== `${name}.deleted`) return null;
  return { shown, id, files: filesOf(shown) };
}

function parsed(body: Uint8Array | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** Ids of an object's files, by member. An item of a list has the name of the list and its index. */
export const filesOf = (shown: ShownObject): Readonly<Record<string, string>> => ({
  ...idsIn(shown, FILE_MEMBERS),
  ...Object.fromEntries(
    FILE_LISTS.flatMap((member) => listedIds(shown[member]).map((id, index) => [`${member}.${index}`, id])),
  ),
  ...idsIn({ [NESTED_FILE]: sourceFileOf(shown) }, [NESTED_FILE]),
});

/** Name of the file that the data source of a run has. */
const NESTED_FILE = 'data_source.source.id';

/** Id of the file with the data of a run of an evaluation; undefined for other data and other objects. */
function sourceFileOf(shown: ShownObject): unknown {
  const source = jsonObjectOf(jsonObjectOf(shown['data_source'])['source']);
  return source['type'] === 'file_id' ? source['id'] : undefined;
}

/** Ids in a list; none for another value. */
const listedIds = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string' && ID.test(id)) : [];

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
 * id. One without our id becomes null, and is left out of a list.
 */
export function withOurIds(shown: ShownObject, id: string, ourIds: ReadonlyMap<string, string>): ShownObject {
  const renamed: Record<string, unknown> = { ...shown, id };
  for (const member of [...FILE_MEMBERS, ...SOURCE_MEMBERS])
    if (typeof shown[member] === 'string') renamed[member] = ourIds.get(shown[member]) ?? null;
  for (const member of FILE_LISTS)
    if (Array.isArray(shown[member]))
      renamed[member] = listedIds(shown[member]).flatMap((upstreamId) => ourIds.get(upstreamId) ?? []);
  const sourceFile = sourceFileOf(shown);
  if (sourceFile === undefined) return renamed;
  const data = jsonObjectOf(shown['data_source']);
  const file = typeof sourceFile === 'string' ? (ourIds.get(sourceFile) ?? null) : null;
  return { ...renamed, data_source: { ...data, source: { ...jsonObjectOf(data['source']), id: file } } };
}

const FINAL = new Set<unknown>(['completed', 'failed', 'expired', 'cancelled', 'succeeded', 'canceled', 'incomplete']);

/** Kinds whose objects change at the upstream until they have a final status. */
const CHANGING: ReadonlySet<ObjectKind> = new Set([
  'batch',
  'video',
  'container',
  'fine_tuning_job',
  'eval_run',
  'response',
]);

/** Whether the object may still change upstream. The usage of an ended run may be reported later. */
export function mayChange(kind: ObjectKind, shown: ShownObject | null): boolean {
  if (shown === null) return true;
  return CHANGING.has(kind) && (!FINAL.has(shown['status']) || pendingSinceMs(shown) !== null);
}
