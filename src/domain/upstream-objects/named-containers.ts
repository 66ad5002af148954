import { isJsonObject, jsonObjectOf } from '../json-object.ts';

/** Ids of the containers that tools of a request for a response name, each once. */
export function containersIn(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return [];
  const ids = tools.flatMap((tool: unknown) => {
    if (!isJsonObject(tool)) return [];
    const { container, environment } = tool;
    return [container, jsonObjectOf(environment)['container_id']].filter((id) => typeof id === 'string');
  });
  return [...new Set(ids)];
}
