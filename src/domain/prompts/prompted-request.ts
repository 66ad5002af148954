import type { ModelRequest } from '../chat/chat.ts';
import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import type { ParsedPrompt, PromptUse } from './prompt.ts';
import { rendered, type RenderedMessage } from './template.ts';

/** Settings of a front matter that each dialect supports. The values are the request members of the dialect. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'chat-completions': {
    temperature: 'temperature',
    max_tokens: 'max_tokens',
    top_p: 'top_p',
    stop: 'stop',
    seed: 'seed',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
  },
  messages: { temperature: 'temperature', top_p: 'top_p' },
  responses: { temperature: 'temperature', top_p: 'top_p', max_tokens: 'max_output_tokens' },
};

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isSystem = ({ role }: RenderedMessage): boolean => role === 'system' || role === 'developer';

/** `system` of a request, with the system messages of a template in front. `system` is a text, blocks, or undefined. */
function systemWith(messages: readonly RenderedMessage[], system: unknown): unknown {
  if (messages.length === 0) return system;
  const blocks = messages.map(({ content }) => ({ type: 'text', text: content }));
  const ofRequest = typeof system === 'string' ? [{ type: 'text', text: system }] : listIn(system);
  return [...blocks, ...ofRequest];
}

/**
 * Members of a body with the messages of a template before those of the request. Null for a dialect without messages.
 */
function messageMembers({ endpoint, body }: ModelRequest, messages: readonly RenderedMessage[]): JsonObject | null {
  const { dialect } = endpoint;
  if (dialect === 'chat-completions') return { messages: [...messages, ...listIn(body['messages'])] };
  if (dialect === 'messages') {
    const others = messages.filter((message) => !isSystem(message));
    const system = systemWith(messages.filter(isSystem), body['system'] ?? undefined);
    return { messages: [...others, ...listIn(body['messages'])], ...(system === undefined ? {} : { system }) };
  }
  if (dialect !== 'responses') return null;
  const { input } = body;
  const ofRequest = typeof input === 'string' ? [{ role: 'user', content: input }] : listIn(input);
  return { input: [...messages, ...ofRequest] };
}

/** Settings of the front matter, as members of a request. Members that the request sets itself are left out. */
function settingsFor({ endpoint, body }: ModelRequest, metadata: JsonObject): JsonObject {
  const config = isJsonObject(metadata['config']) ? metadata['config'] : {};
  const supported = Object.entries(SETTINGS[endpoint.dialect ?? ''] ?? {});
  return Object.fromEntries(
    supported.flatMap(([name, member]) => {
      const value = config[name] ?? metadata[name] ?? null;
      const isSetByRequest = (body[member] ?? null) !== null;
      return value === null || isSetByRequest ? [] : [[member, value]];
    }),
  );
}

/** Values of variables: those of the call, else the defaults of the front matter. */
function valuesOf({ metadata }: ParsedPrompt, sent: PromptUse['variables']): PromptUse['variables'] {
  const input = isJsonObject(metadata['input']) ? metadata['input'] : {};
  const defaults = isJsonObject(input['default']) ? input['default'] : {};
  return new Map([...Object.entries(defaults), ...sent]);
}

/**
 * Applies a prompt to a request. The messages of the template come before those of the request. The front matter
 * replaces the model, and adds its settings; `params` may switch off both. Throws InvalidInput for a missing variable,
 * and for an endpoint without messages.
 */
export function promptedRequest(
  request: ModelRequest,
  {
    prompt,
    params,
    variables,
  }: {
    readonly prompt: ParsedPrompt;
    readonly params: JsonObject;
    readonly variables: PromptUse['variables'];
  },
): ModelRequest {
  const { prompt: _prompt, ...unprompted } = request;
  const messages = messageMembers(request, rendered(prompt.sections, valuesOf(prompt, variables)));
  if (messages === null) throw unsupportedEndpoint(request);
  const { model: namedModel } = prompt.metadata;
  const usesModel =
    typeof namedModel === 'string' && namedModel !== '' && params['ignore_prompt_manager_model'] !== true;
  const model = usesModel ? { model: namedModel } : {};
  const usesSettings = params['ignore_prompt_manager_optional_params'] !== true;
  const changes = { ...messages, ...(usesSettings ? settingsFor(request, prompt.metadata) : {}), ...model };
  return {
    ...unprompted,
    ...model,
    body: { ...request.body, ...changes },
    replaced: { ...request.replaced, ...changes },
  };
}

function unsupportedEndpoint({ endpoint }: ModelRequest): InvalidInput {
  const message = `${endpoint.path}: The parameter 'prompt_id' cannot be honoured: the endpoint has no messages.`;
  return new InvalidInput(message, [{ path: ['body', 'prompt_id'], rule: 'unsupported', message }]);
}
