/** Result of a mapping that leaves a member of a list or map out. */
export const OMITTED = Symbol('left out');

type Each = (inner: unknown, key: string | number) => unknown;

/** A list or map with each member mapped; the value itself where no member changes. */
export function mappedInner(value: object, each: Each): unknown {
  return Array.isArray(value) ? mappedList(value, each) : mappedMap(value, each);
}

function mappedList(list: readonly unknown[], each: Each): unknown {
  const mapped = list.map(each);
  if (mapped.every((inner, index) => inner === list[index])) return list;
  return mapped.filter((inner) => inner !== OMITTED);
}

function mappedMap(map: object, each: Each): unknown {
  let isSame = true;
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(map)) {
    const mapped = each(inner, key);
    isSame &&= mapped === inner;
    if (mapped !== OMITTED) entries.push([key, mapped]);
  }
  return isSame ? map : Object.fromEntries(entries);
}
