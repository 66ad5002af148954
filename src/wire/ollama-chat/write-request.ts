import type {
  CacheMark,
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  Reasoning,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { effortOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { argumentsOf, type Fields, withoutNulls } from '../json/fields.ts';
import { noteDisabledParallelToolCalls } from '../single-tool-calls.ts';

/** Writes a neutral chat as a request of Ollama's chat API. Adds unsupported parts to `losses`. */
export function writeOllama(chat: NeutralChat, losses: Losses): RequestBody {
  noteDisabledParallelToolCalls(chat, losses);
  if (chat.endUser !== null) losses.hint('user');
  const { toolChoice } = chat;
  if (toolChoice?.mode === 'required' || toolChoice?.mode === 'tool') losses.essential('tool_choice');
  const tools = toolChoice?.mode === 'none' ? [] : chat.tools;
  const options = withoutNulls({
    num_predict: chat.maxOutputTokens,
    temperature: chat.temperature,
    top_p: chat.topP,
    top_k: chat.topK,
    stop: chat.stop.length === 0 ? null : chat.stop,
    seed: chat.seed,
    frequency_penalty: chat.frequencyPenalty,
    presence_penalty: chat.presencePenalty,
  });
  return withoutNulls({
    model: chat.model,
    // Always sent, because Ollama streams by default.
    stream: chat.stream,
    messages: writeMessages(chat.messages, losses),
    tools: tools.length === 0 ? null : tools.map((tool, index) => writeTool(tool, `tools[${index}]`, losses)),
    options: Object.keys(options).length === 0 ? null : options,
    format: chat.outputForm === null ? null : writeOutputForm(chat.outputForm),
    think: chat.reasoning === null ? null : writeReasoning(chat.reasoning),
  });
}

function writeTool(
  { name, description, parameters, strict, cached }: NeutralTool,
  where: string,
  losses: Losses,
): Fields {
  if (strict === true) losses.hint(`${where}.strict`);
  noteCacheMark(cached, where, losses);
  return { type: 'function', function: withoutNulls({ name, description, parameters }) };
}

function writeMessages(messages: readonly NeutralMessage[], losses: Losses): readonly Fields[] {
  const toolNamesByCall = new Map<string, string>();
  return messages.flatMap((message, index): readonly Fields[] => {
    const where = `messages[${index}]`;
    switch (message.role) {
      case 'system':
        return [{ role: 'system', ...writeParts(message.content, where, losses) }];
      case 'user':
        return [{ role: 'user', ...writeParts(message.content, where, losses) }];
      case 'tool':
        return message.results.map(({ callId, content, cached, failed }) => {
          noteCacheMark(cached, where, losses);
          if (failed) losses.hint(`${where}.is_error`);
          // Ollama's results have the tool name instead of the call id.
          return {
            role: 'tool',
            tool_name: toolNamesByCall.get(callId) ?? callId,
            ...writeParts(content, where, losses),
          };
        });
      case 'assistant': {
        const calls = message.content.flatMap((part) => (part.kind === 'toolCall' ? [part] : []));
        for (const { id, name } of calls) toolNamesByCall.set(id, name);
        if (calls.some(({ proof }) => proof !== undefined)) losses.hint(`${where}.tool_calls.proof`);
        const textOf = (...kinds: readonly string[]): string =>
          message.content.map((part) => ('text' in part && kinds.includes(part.kind) ? part.text : '')).join('');
        for (const part of message.content) if (part.kind === 'text') noteCacheMark(part.cached, where, losses);
        return [
          withoutNulls({
            role: 'assistant',
            content: textOf('text', 'refusal'),
            thinking: textOf('reasoning') || null,
            tool_calls:
              calls.length === 0
                ? null
                : calls.map(({ name, arguments: text }) => ({ function: { name, arguments: argumentsOf(text) } })),
          }),
        ];
      }
    }
  });
}

/** Text and inline images of a message. Adds all other parts to `losses`. */
function writeParts(parts: readonly UserPart[], where: string, losses: Losses): Fields {
  const images: string[] = [];
  const texts: string[] = [];
  parts.forEach((part, index) => {
    const place = `${where}.content[${index}]`;
    if (part.kind !== 'audio') noteCacheMark(part.cached, place, losses);
    if (part.kind === 'text') texts.push(part.text);
    else if (part.kind === 'image' && part.source.form === 'data') images.push(part.source.base64);
    else losses.essential(place);
  });
  return withoutNulls({ content: texts.join('\n'), images: images.length === 0 ? null : images });
}

function noteCacheMark(mark: CacheMark | undefined, where: string, losses: Losses): void {
  if (mark !== undefined) losses.hint(`${where}.cache_control`);
}

function writeOutputForm(output: OutputForm): unknown {
  if (output.form === 'text') return null;
  return output.form === 'json' ? 'json' : output.schema;
}

/** Value of `think`: a level that some models support, else whether to think. */
function writeReasoning(reasoning: Reasoning): boolean | string {
  const effort = effortOf(reasoning);
  if (effort === 'none') return false;
  return effort === 'low' || effort === 'medium' || effort === 'high' ? effort : true;
}
