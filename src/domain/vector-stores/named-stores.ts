import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Members that name vector stores, at any depth of a body. */
const STORE_MEMBERS = new Set(['vector_store_ids', 'vector_store_id']);

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((text): text is string => typeof text === 'string' && text !== '');

/** Ids of the vector stores that a body names. An id may occur more than once. */
export function storesInBody(body: JsonObject): readonly string[] {
  const found: string[] = [];
  // A list in place of recursion: a body may be nested more deeply than the call stack permits.
  const unread: unknown[] = [body];
  while (unread.length > 0) {
    const value = unread.pop();
    if (Array.isArray(value)) for (const item of value) unread.push(item);
    else if (isJsonObject(value))
      for (const [name, inner] of Object.entries(value)) {
        if (STORE_MEMBERS.has(name)) found.push(...textsIn(inner));
        if (typeof inner === 'object' && inner !== null) unread.push(inner);
      }
  }
  return found;
}

/** The decoded segments of a path. Empty segments, and those that cannot be decoded, are left out. */
export const segmentsOf = (path: string): readonly string[] =>
  path.split('/').flatMap((segment) => {
    try {
      return segment === '' ? [] : [decodeURIComponent(segment)];
    } catch {
      return [];
    }
  });

/** Ids of the vector stores that a path names: the segments after a segment `vector_stores`. */
export function storesInPath(path: string): readonly string[] {
  const segments = segmentsOf(path);
  return segments.filter((_segment, index) => segments[index - 1] === 'vector_stores');
}
