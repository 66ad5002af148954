import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Members of bodies that name stores, at any depth: those of tools, of their resources, and of files. */
const NAMING = new Set(['vector_store_ids', 'vector_store_id']);

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string' && one !== '');

/** Ids of vector stores in a body. */
export function storesInBody(body: JsonObject): readonly string[] {
  const found: string[] = [];
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isJsonObject(value))
      for (const [name, inner] of Object.entries(value)) {
        if (NAMING.has(name)) found.push(...textsIn(inner));
        if (typeof inner === 'object' && inner !== null) waiting.push(inner);
      }
  }
  return found;
}

/** Number of times that a path is decoded. Forwarding refuses a path that is still encoded after that. */
const MAX_DECODINGS = 4;

/** A segment without parameters after a semicolon, which some servers remove. */
const withoutParameters = (segment: string): string => segment.replace(/;.*$/, '');

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
