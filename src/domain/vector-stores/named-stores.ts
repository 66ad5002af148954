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

/** Segments of a path that may name a store: all of them, decoded. Those that cannot be decoded are left out. */
export const segmentsOf = (path: string): readonly string[] =>
  path.split('/').flatMap((segment) => {
    try {
      return segment === '' ? [] : [decodeURIComponent(segment)];
    } catch {
      return [];
    }
  });

/** Ids of vector stores in a path: the segments after `vector_stores`. */
export function storesInPath(path: string): readonly string[] {
  const segments = segmentsOf(path);
  return segments.filter((_segment, index) => segments[index - 1] === 'vector_stores');
}
