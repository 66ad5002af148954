/** Shortest id that is also replaced inside of longer texts, in characters. A shorter one could be a part of a word. */
const MIN_EMBEDDED_CHARACTERS = 12;

/**
 * A JSON value with our ids of objects in place of the upstream's, wherever a text is or contains one. Messages of
 * events name ids, for example. `ids` has our id by the upstream's. Undefined for bytes that are no JSON.
 */
export function withRenamedIds(json: Uint8Array, ids: ReadonlyMap<string, string>): unknown {
  const rename = (value: string): string => {
    let renamed = value;
    for (const [upstreamId, id] of ids)
      if (value === upstreamId) return id;
      else if (upstreamId.length >= MIN_EMBEDDED_CHARACTERS) renamed = renamed.replaceAll(upstreamId, () => id);
    return renamed;
  };
  try {
    return JSON.parse(new TextDecoder().decode(json), (_key, value: unknown) =>
      typeof value === 'string' ? rename(value) : value,
    );
  } catch {
    return undefined;
  }
}
