import { isJsonObject } from '../json-object.ts';
import type { RequestBody } from '../inference/request-validation.ts';
import type { ResponseItem, StoredResponse } from './stored-response.ts';
import { itemIdOf } from './response-ids.ts';

/** Prefixes of item ids by type; other types have `item`. */
const KINDS: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
};

/** The input of a request as items; a plain text is a user message. */
export function inputItemsOf({ input }: RequestBody): readonly ResponseItem[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
}

/** The input items of a request as a client may list them: with type and status, each with a unique id. */
export function listedItems(items: readonly ResponseItem[], responseId: string): readonly ResponseItem[] {
  const taken = new Set<unknown>();
  return items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message';
    const sentId = item['id'];
    const keepsId = typeof sentId === 'string' && sentId !== '' && !taken.has(sentId);
    const id = keepsId ? sentId : itemIdOf(KINDS[type] ?? 'item', responseId, `i${index}`);
    taken.add(id);
    const listed = { ...item, id, type, status: item['status'] ?? 'completed' };
    return type === 'message' ? { ...listed, content: partsOf(item) } : listed;
  });
}

function partsOf({ role, content }: ResponseItem): unknown {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }];
}

/** The output items of a response. */
const outputItemsOf = ({ response: { output } }: Pick<StoredResponse, 'response'>): readonly ResponseItem[] =>
  Array.isArray(output) ? output.filter(isJsonObject) : [];

/** Input and output items of earlier responses, in order, as model input. */
export const itemsBefore = (turns: readonly StoredResponse[]): readonly ResponseItem[] =>
  turns.flatMap((turn) => [...turn.input, ...outputItemsOf(turn)]).map(asInput);

/** The output items of an answer, as model input. */
export const outputAsInput = (response: ResponseItem): readonly ResponseItem[] =>
  outputItemsOf({ response }).map(asInput);

/** An item of a stored response, as model input; null where it has none with this id. */
export function itemIn(response: StoredResponse, id: string): ResponseItem | null {
  const found = [...outputItemsOf(response), ...response.input].find((item) => item['id'] === id);
  return found === undefined ? null : asInput(found);
}

/** An item without id and status. Both belong to Lensgate; upstreams have their own. */
function asInput(item: ResponseItem): ResponseItem {
  const { id: _id, status: _status, ...content } = item;
  return content;
}

/** The id in an item reference; null for other items. An item without type and role is also a reference. */
export function referencedId({ type, role, id }: ResponseItem): string | null {
  const isReference = type === 'item_reference' || ((type ?? null) === null && role === undefined);
  return isReference && typeof id === 'string' ? id : null;
}

/** A page of a list of items. */
export interface ItemPage {
  /** Id of the last item of the previous page; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly oldestFirst: boolean;
}

/** A page of the input items of a response; empty after an unknown id. */
export function itemPage(
  { input }: StoredResponse,
  { after, limit, oldestFirst }: ItemPage,
): { readonly data: readonly ResponseItem[]; readonly hasMore: boolean } {
  const items = oldestFirst ? input : input.toReversed();
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const isUnknownId = after !== null && start === 0;
  const rest = isUnknownId ? [] : items.slice(start);
  return { data: rest.slice(0, limit), hasMore: rest.length > limit };
}
