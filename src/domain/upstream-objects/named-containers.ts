import { isJsonObject, jsonObjectOf, type JsonObject } from '../json-object.ts';

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

/** Types of tools that run in a container. */
const CONTAINER_TOOLS: ReadonlySet<unknown> = new Set(['code_interpreter', 'shell']);

/**
 * Ids of the containers that a request for a response names, each once. They are in its tools and, where a tool runs in
 * a container, in its input items. The upstream continues the container of an earlier item.
 */
export function containersOfRequest({ tools, input }: JsonObject): readonly string[] {
  const ofTools = containersIn(tools);
  const runsCode = Array.isArray(tools) && tools.some((tool) => CONTAINER_TOOLS.has(jsonObjectOf(tool)['type']));
  if (!runsCode || !Array.isArray(input)) return ofTools;
  return [...new Set([...ofTools, ...containersInItems(input)])];
}

/** Ids of the containers that items of a request name at any depth, each once: in calls and in citations of files. */
export function containersInItems(items: readonly unknown[]): readonly string[] {
  const found = new Set<string>();
  // A list in place of recursion: a body may be nested more deeply than the call stack permits.
  const unread: unknown[] = [items];
  while (unread.length > 0) {
    const value = unread.pop();
    if (Array.isArray(value)) for (const item of value) unread.push(item);
    else if (isJsonObject(value))
      for (const [name, inner] of Object.entries(value)) {
        if (name === 'container_id' && typeof inner === 'string') found.add(inner);
        if (typeof inner === 'object' && inner !== null) unread.push(inner);
      }
  }
  return [...found];
}

/** Types of items of calls that ran in a container. */
const CONTAINER_CALLS: ReadonlySet<unknown> = new Set(['code_interpreter_call', 'shell_call']);

const objectsIn = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);

/** The values of an output item, a content part or an annotation that may be the id of a container. */
function idsOfPiece(piece: JsonObject): readonly unknown[] {
  const { type, container_id: id, content, annotations, environment } = piece;
  if (CONTAINER_CALLS.has(type)) return [id, jsonObjectOf(environment)['container_id']];
  if (type === 'container_file_citation') return [id];
  const parts = objectsIn(content);
  const cited = [piece, ...parts].flatMap((part) => objectsIn(part === piece ? annotations : part['annotations']));
  return cited.filter((one) => one['type'] === 'container_file_citation').map((one) => one['container_id']);
}

const textsOf = (ids: readonly unknown[]): readonly string[] => [
  ...new Set(ids.filter((id) => typeof id === 'string')),
];

/**
 * Ids of the containers in which the output of a response ran, each once. Other places of an answer repeat values of
 * its request, such as `metadata` and `tools`, and are not read.
 */
export const containersOfOutput = (output: unknown): readonly string[] =>
  textsOf(objectsIn(output).flatMap(idsOfPiece));

/** Ids of the containers in which the output that an event of a streamed response has ran, each once. */
export const containersOfEvent = ({ response, item, part, annotation }: JsonObject): readonly string[] =>
  containersOfOutput([item, part, annotation, ...objectsIn(jsonObjectOf(response)['output'])]);
