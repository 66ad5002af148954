import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Member of a `file_search` tool with the ids of its stores. */
const MEMBER = 'vector_store_ids';

/**
 * Tools with ids of stores in place of names of indexes. `storeIdOf` returns the id for the name of an index, and null
 * for another text. Returns null when the tools name no index.
 */
export function toolsWithStores(tools: unknown, storeIdOf: (name: string) => string | null): readonly unknown[] | null {
  if (!Array.isArray(tools)) return null;
  let isChanged = false;
  const renamed = (id: unknown): unknown => {
    const storeId = typeof id === 'string' ? storeIdOf(id) : null;
    if (storeId === null) return id;
    isChanged = true;
    return storeId;
  };
  const changed = tools.map((tool: unknown) => {
    if (!isJsonObject(tool)) return tool;
    const { [MEMBER]: ids } = tool;
    return Array.isArray(ids) ? { ...tool, [MEMBER]: ids.map(renamed) } : tool;
  });
  return isChanged ? changed : null;
}

/** An answer about a store with the name of its index in place of its id. */
export function withIndexName(answer: JsonObject, storeId: string, name: string): JsonObject {
  const named = (value: JsonObject): JsonObject => ({
    ...value,
    ...(value['id'] === storeId ? { id: name } : {}),
    ...(value['vector_store_id'] === storeId ? { vector_store_id: name } : {}),
  });
  const { data } = answer;
  return Array.isArray(data)
    ? { ...named(answer), data: data.map((one: unknown) => (isJsonObject(one) ? named(one) : one)) }
    : named(answer);
}
