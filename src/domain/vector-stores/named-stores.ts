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
        if (STORE_MEMBERS.has(name)) for (const text of textsIn(inner)) found.push(text);
        if (typeof inner === 'object' && inner !== null) unread.push(inner);
      }
  }
  return found;
}

/** Number of times that a path is decoded. Forwarding refuses a path that is still encoded after that. */
const MAX_DECODINGS = 4;

/** A segment without what some servers remove: parameters after a semicolon, a query and a fragment. */
const withoutParameters = (segment: string): string => segment.replace(/[;?#].*$/s, '');

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The segments of a path, each decoded. One that cannot be decoded stays as it is. */
const decodedSegments = (path: string): readonly string[] =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decoded);

/** Segments of a path as upstreams may read them: decoded, and split and decoded again. */
function readings(path: string): readonly (readonly string[])[] {
  const found = [decodedSegments(path)];
  for (let round = 0; round < MAX_DECODINGS; round += 1) {
    const text = found.at(-1)?.join('/') ?? '';
    const segments = decodedSegments(text);
    if (segments.length === found.at(-1)?.length && segments.join('/') === text) break;
    found.push(segments);
  }
  return found;
}

/** Segments of a path that may name a store, in all readings of the path. */
export const segmentsOf = (path: string): readonly string[] =>
  readings(path).flatMap((segments) => segments.flatMap((segment) => [segment, withoutParameters(segment)]));

/** Ids of vector stores in a path: the segments after `vector_stores`, in all readings, the last reading first. */
export const storesInPath = (path: string): readonly string[] =>
  readings(path)
    .toReversed()
    .flatMap((segments) =>
      segments
        .filter((_segment, index) => withoutParameters(segments[index - 1] ?? '').toLowerCase() === 'vector_stores')
        .map(withoutParameters),
    );
