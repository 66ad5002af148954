import { mappedInner } from './mapped-inner.ts';

/** Keys and indexes from the root of a document to a value. */
export type Path = readonly (string | number)[];

const PREFIX = 'os.environ/';
const REFERENCE = /^os\.environ\/(.+)$/;

/**
 * A value with every `os.environ/NAME` text replaced by what `lookUp` returns for it. Parts without a reference are
 * returned as they are, not copied.
 */
export function resolveReferences(
  value: unknown,
  path: Path,
  lookUp: (path: Path, name: string) => string | null,
): unknown {
  return resolvedAt(value, [...path], lookUp);
}

/** `path` is extended and shortened in place. Only `lookUp` gets a copy, because most values have no reference. */
function resolvedAt(value: unknown, path: (string | number)[], lookUp: (path: Path, name: string) => unknown): unknown {
  if (typeof value === 'string') {
    const name = value.startsWith(PREFIX) ? REFERENCE.exec(value)?.[1] : undefined;
    return name === undefined ? value : lookUp([...path], name);
  }
  if (typeof value !== 'object' || value === null) return value;
  return mappedInner(value, (inner, key) => {
    path.push(key);
    const found = resolvedAt(inner, path, lookUp);
    path.pop();
    return found;
  });
}
