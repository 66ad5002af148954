import type { ModelRequest } from '../chat/chat.ts';
import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import type { ParsedPrompt, PromptUse } from './prompt.ts';
import { rendered, type RenderedMessage } from './template.ts';

/** Settings of a front matter, by dialect and with the name that the dialect has for them. */
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

/** System texts of a template before those of the request, which are a text or blocks. */
function systemWith(texts: readonly RenderedMessage[], system: unknown): unknown {
  if (texts.length === 0) return system;
  const blocks = texts.map(({ content }) => ({ type: 'text', text: content }));
  const own = typeof system === 'string' ? [{ type: 'text', text: system }] : listIn(system);
  return [...blocks, ...own];
}

/** Members with the messages of a template before those of the request; null for other dialects. */
function withMessages({ endpoint, body }: ModelRequest, messages: readonly RenderedMessage[]): JsonObject | null {
  const { dialect } = endpoint;
  if (dialect === 'chat-completions') return { messages: [...messages, ...listIn(body['messages'])] };
  if (dialect === 'messages') {
    const others = messages.filter((one) => !isSystem(one));
    const system = systemWith(messages.filter(isSystem), body['system'] ?? undefined);
    return { messages: [...others, ...listIn(body['messages'])], ...(system === undefined ? {} : { system }) };
  }
  if (dialect !== 'responses') return null;
  const { input } = body;
  const own = typeof input === 'string' ? [{ role: 'user', content: input }] : listIn(input);
  return { input: [...messages, ...own] };
}

/** Settings of the front matter that the request does not set. */
function settingsFor({ endpoint, body }: ModelRequest, metadata: JsonObject): JsonObject {
  const config = isJsonObject(metadata['config']) ? metadata['config'] : {};
  const names = Object.entries(SETTINGS[endpoint.dialect ?? ''] ?? {});
  return Object.fromEntries(
    names.flatMap(([name, member]) => {
      const value = config[name] ?? metadata[name] ?? null;
      return value === null || (body[member] ?? null) !== null ? [] : [[member, value]];
    }),
  );
}

/** Values of variables: those of the call, then the defaults of the front matter. */
function valuesOf({ metadata }: ParsedPrompt, sent: PromptUse['variables']): PromptUse['variables'] {
  const input = isJsonObject(metadata['input']) ? metadata['input'] : {};
  const defaults = isJsonObject(input['default']) ? input['default'] : {};
  return new Map([...Object.entries(defaults), ...sent]);
}

/**
 * A request with the messages, the model and the settings of a prompt. The front matter decides the model, unless
 * `params` says otherwise. Throws InvalidInput for a missing variable, and for an endpoint without messages.
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
  const { prompt: _used, ...unprompted } = request;
  const messages = withMessages(request, rendered(prompt.sections, valuesOf(prompt, variables)));
  if (messages === null) throw unsupportedEndpoint(request);
  const { model: named } = prompt.metadata;
  const model =
    typeof named === 'string' && named !== '' && params['ignore_prompt_manager_model'] !== true ? named : null;
  const changes = {
    ...messages,
    ...(params['ignore_prompt_manager_optional_params'] === true ? {} : settingsFor(request, prompt.metadata)),
    ...(model === null ? {} : { model }),
  };
  return {
    ...unprompted,
    ...(model === null ? {} : { model }),
    body: { ...request.body, ...changes },
    replaced: { ...request.replaced, ...changes },
  };
}

function unsupportedEndpoint({ endpoint }: ModelRequest): InvalidInput {
  const message = `${endpoint.path}: The parameter 'prompt_id' cannot be honoured: the endpoint has no messages.`;
  return new InvalidInput(message, [{ path: ['body', 'prompt_id'], rule: 'unsupported', message }]);
}
