import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { object } from '../json/fields.ts';

/** Request of an IDE. One path accepts Responses requests and chat-completions requests. */
export type IdeRequest =
  | { readonly kind: 'response'; readonly body: RequestBody }
  | { readonly kind: 'chat'; readonly body: RequestBody };

/**
 * Detects the dialect of an IDE request. A request with `input` is a Responses request: its members `messages` and
 * `stream_options` are removed. Any other request is a chat request: its tools and tool choice are converted to the
 * form of chat completions.
 */
export function readIdeRequest(body: RequestBody): IdeRequest {
  if (body['input'] !== undefined && body['input'] !== null) {
    const responseMembers = Object.entries(body).filter(
      ([member]) => member !== 'messages' && member !== 'stream_options',
    );
    return { kind: 'response', body: Object.fromEntries(responseMembers) };
  }
  const { tools, tool_choice: choice } = body;
  return {
    kind: 'chat',
    body: {
      ...body,
      ...(Array.isArray(tools) ? { tools: tools.map(nestedTool) } : {}),
      ...(isJsonObject(choice) ? { tool_choice: nestedChoice(choice) } : {}),
    },
  };
}

/** Converts a tool of the Responses API to the form of chat completions. A tool that has this form stays unchanged. */
function nestedTool(value: unknown): unknown {
  const { type, ...declared } = object(value);
  if (typeof declared['name'] !== 'string') return value;
  return type === 'function' || type === 'custom' ? { type, [type]: declared } : value;
}

function nestedChoice(choice: JsonObject): unknown {
  const { type, name } = choice;
  return (type === 'function' || type === 'custom') && typeof name === 'string' ? { type, [type]: { name } } : choice;
}

/** Request body with another model. An effort that is not null replaces the reasoning effort of the body. */
export function withModel(
  { kind, body }: IdeRequest,
  { model, effort }: { readonly model: string; readonly effort: string | null },
): RequestBody {
  if (effort === null) return { ...body, model };
  return kind === 'chat'
    ? { ...body, model, reasoning_effort: effort }
    : { ...body, model, reasoning: { ...object(body['reasoning']), effort } };
}
