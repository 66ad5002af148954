/** Keys and indexes from the root of a document to a value. */
export type Path = readonly (string | number)[];

const REFERENCE = /^os\.environ\/(.+)$/;

/** Copies a value with every `os.environ/NAME` text replaced by what `lookUp` returns for it. */
export function resolveReferences(
  value: unknown,
  path: Path,
  lookUp: (path: Path, name: string) => string | null,
): unknown {
  if (typeof value === 'string') {
    const name = REFERENCE.exec(value)?.[1];
    return name === undefined ? value : lookUp(path, name);
  }
  if (Array.isArray(value)) return value.map((item, index) => resolveReferences(item, [...path, index], lookUp));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveReferences(item, [...path, key], lookUp)]),
  );
}
