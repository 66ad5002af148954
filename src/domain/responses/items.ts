import type { RequestBody } from '../inference/askable.ts';
import type { Item, KeptResponse } from './kept-response.ts';
import { itemIdOf } from './response-ids.ts';

/** How ids of items begin, by their type; others are plain items. */
const KINDS: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
};

const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a request asks, as items; a plain text is a message of the user's. */
export function itemsOf({ input }: RequestBody): readonly Item[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input.filter(isItem) : [];
}

/** The items of a request as they are listed: whole, and each with an id of its own. */
export function listedItems(items: readonly Item[], responseId: string): readonly Item[] {
  const taken = new Set<unknown>();
  return items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message';
    const said = item['id'];
    const isOwn = typeof said === 'string' && said !== '' && !taken.has(said);
    const id = isOwn ? said : itemIdOf(KINDS[type] ?? 'item', responseId, `i${index}`);
    taken.add(id);
    const listed = { ...item, id, type, status: item['status'] ?? 'completed' };
    return type === 'message' ? { ...listed, content: partsOf(item) } : listed;
  });
}

function partsOf({ role, content }: Item): unknown {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }];
}

/** What a response said, as items. */
const saidIn = ({ response: { output } }: Pick<KeptResponse, 'response'>): readonly Item[] =>
  Array.isArray(output) ? output.filter(isItem) : [];

/** What was asked and said before, in the order it was, for a model to read. */
export const itemsBefore = (turns: readonly KeptResponse[]): readonly Item[] =>
  turns.flatMap((turn) => [...turn.input, ...saidIn(turn)]).map(forModel);

/** What an answer said, for a model to read. */
export const itemsSaid = (response: Item): readonly Item[] => saidIn({ response }).map(forModel);

/** An item of a response that is kept here, for a model to read; null where it has none with this id. */
export function itemIn(response: KeptResponse, id: string): Item | null {
  const found = [...saidIn(response), ...response.input].find((item) => item['id'] === id);
  return found === undefined ? null : forModel(found);
}

/** Ids and states are ours: an upstream that has such things has its own. */
function forModel(item: Item): Item {
  const { id: _id, status: _status, ...said } = item;
  return said;
}

/** The id of the item that a reference stands for; null for an item that is there itself. */
export function referredTo({ type, role, id }: Item): string | null {
  const isReference = type === 'item_reference' || ((type ?? null) === null && role === undefined);
  return isReference && typeof id === 'string' ? id : null;
}

/** A page of a list of items. */
export interface ItemPage {
  /** Id of the last item of the page before; null begins. */
  readonly after: string | null;
  readonly limit: number;
  readonly oldestFirst: boolean;
}

/** A page of the items a response was asked with; empty after an id that is not among them. */
export function itemPage(
  { input }: KeptResponse,
  { after, limit, oldestFirst }: ItemPage,
): { readonly data: readonly Item[]; readonly hasMore: boolean } {
  const items = oldestFirst ? input : input.toReversed();
  const last = after === null ? -1 : items.findIndex(({ id }) => id === after);
  const rest = after !== null && last === -1 ? [] : items.slice(last + 1);
  return { data: rest.slice(0, limit), hasMore: rest.length > limit };
}
