import type { RequestBody } from '../../domain/inference/askable.ts';
import { isObject, object } from '../json/fields.ts';

/** A request of an IDE: items of a response, or messages of a chat, sent to one address. */
export type IdeRequest =
  | { readonly kind: 'response'; readonly body: RequestBody }
  | { readonly kind: 'chat'; readonly body: RequestBody };

/** What an IDE asks, in the words of the dialect that is meant. */
export function readIdeRequest(body: RequestBody): IdeRequest {
  if (body['input'] !== undefined && body['input'] !== null) {
    const kept = Object.entries(body).filter(([member]) => member !== 'messages' && member !== 'stream_options');
    return { kind: 'response', body: Object.fromEntries(kept) };
  }
  const { tools, tool_choice: choice } = body;
  return {
    kind: 'chat',
    body: {
      ...body,
      ...(Array.isArray(tools) ? { tools: tools.map(nested) } : {}),
      ...(isObject(choice) ? { tool_choice: nestedChoice(choice) } : {}),
    },
  };
}

/** A tool of the Responses API as chat completions have it; one that is already so stays. */
function nested(value: unknown): unknown {
  const { type, ...declared } = object(value);
  if (typeof declared['name'] !== 'string') return value;
  return type === 'function' || type === 'custom' ? { type, [type]: declared } : value;
}

function nestedChoice(choice: Readonly<Record<string, unknown>>): unknown {
  const { type, name } = choice;
  return (type === 'function' || type === 'custom') && typeof name === 'string' ? { type, [type]: { name } } : choice;
}

/** A request with the settings that its model's name held. */
export function withModel(
  { kind, body }: IdeRequest,
  { model, effort }: { readonly model: string; readonly effort: string | null },
): RequestBody {
  if (effort === null) return { ...body, model };
  return kind === 'chat'
    ? { ...body, model, reasoning_effort: effort }
    : { ...body, model, reasoning: { ...object(body['reasoning']), effort } };
}
