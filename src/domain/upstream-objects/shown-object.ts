import type { ObjectKind, ShownObject } from './upstream-object.ts';

/** Members of a shown object that hold ids of files. */
const FILE_MEMBERS = ['input_file_id', 'output_file_id', 'error_file_id'] as const;

/** An id that can stand in a path and a row as it is. */
const ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,256}$/;

/** A shown object and the ids in it; null when an answer is none. */
export interface ReadObject {
  readonly shown: ShownObject;
  readonly id: string;
  /** The files it names, by member. */
  readonly files: Readonly<Record<string, string>>;
}

/** Reads the body of an answer as one object that an upstream keeps. */
export function readObject(kind: ObjectKind, body: Uint8Array | null): ReadObject | null {
  const value = parsed(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const shown = value as ShownObject;
  const { id, object } = shown;
  if (typeof id !== 'string' || !ID.test(id) || (object !== undefined && object !== kind)) return null;
  return { shown, id, files: filesOf(shown) };
}

function parsed(body: Uint8Array | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** The files an object names, by member. */
export function filesOf(shown: ShownObject): Readonly<Record<string, string>> {
  const named: Record<string, string> = {};
  for (const member of FILE_MEMBERS) {
    const id = shown[member];
    if (typeof id === 'string' && ID.test(id)) named[member] = id;
  }
  return named;
}

/** The object with ids of ours in place of the upstream's; a file that has none is not named. */
export function underOurIds(shown: ShownObject, id: string, fileIds: ReadonlyMap<string, string>): ShownObject {
  const renamed: Record<string, unknown> = { ...shown, id };
  for (const member of FILE_MEMBERS)
    if (typeof shown[member] === 'string') renamed[member] = fileIds.get(shown[member]) ?? null;
  return renamed;
}

const FINAL = new Set<unknown>(['completed', 'failed', 'expired', 'cancelled']);

/** Whether the upstream may show an object otherwise the next time. */
export function mayChange(kind: ObjectKind, shown: ShownObject | null): boolean {
  return shown === null || (kind === 'batch' && !FINAL.has(shown['status']));
}
