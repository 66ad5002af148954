import { isJsonObject } from '../../domain/json-object.ts';
import type {
  CacheMark,
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  Reasoning,
  Source,
  ToolChoice,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { thoughtBudgetOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { argumentsOf, type Fields, withoutNulls, lookupTable } from '../json/fields.ts';
import { noteDisabledParallelToolCalls } from '../single-tool-calls.ts';

/**
 * Writes a neutral chat as a generateContent request. Model and streaming are not in the body, but in the URL. Adds
 * unsupported parts to `losses`.
 */
export function writeGenerate(chat: NeutralChat, losses: Losses): RequestBody {
  noteDisabledParallelToolCalls(chat, losses);
  if (chat.endUser !== null) losses.hint('user');
  const config = writeConfig(chat);
  const system = chat.messages.flatMap((message) => (message.role === 'system' ? message.content : []));
  return withoutNulls({
    systemInstruction: system.length === 0 ? null : { parts: system.map(({ text }) => ({ text })) },
    contents: writeContents(chat.messages, losses),
    tools: chat.tools.length === 0 ? null : [{ functionDeclarations: chat.tools.map(toolWriter(losses)) }],
    toolConfig: chat.toolChoice === null ? null : { functionCallingConfig: writeToolChoice(chat.toolChoice) },
    generationConfig: Object.keys(config).length === 0 ? null : config,
  });
}

const writeConfig = (chat: NeutralChat): Fields =>
  withoutNulls({
    temperature: chat.temperature,
    topP: chat.topP,
    topK: chat.topK,
    maxOutputTokens: chat.maxOutputTokens,
    stopSequences: chat.stop.length === 0 ? null : chat.stop,
    seed: chat.seed,
    presencePenalty: chat.presencePenalty,
    frequencyPenalty: chat.frequencyPenalty,
    ...(chat.outputForm === null ? {} : writeOutputForm(chat.outputForm)),
    thinkingConfig: chat.reasoning === null ? null : writeReasoning(chat.reasoning),
  });

function writeOutputForm(output: OutputForm): Fields {
  if (output.form === 'text') return { responseMimeType: 'text/plain' };
  if (output.form === 'json') return { responseMimeType: 'application/json' };
  return { responseMimeType: 'application/json', responseJsonSchema: output.schema };
}

/** Thinking settings. A caller that requests reasoning gets the thoughts, unless the request excludes them. */
function writeReasoning(reasoning: Reasoning): Fields {
  const thinkingBudget = reasoning.effort === 'none' ? 0 : thoughtBudgetOf(reasoning);
  return withoutNulls({ thinkingBudget, includeThoughts: reasoning.shown ?? thinkingBudget !== 0 });
}

function writeToolChoice(choice: ToolChoice): Fields {
  if (choice.mode === 'tool') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  return { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice.mode] };
}

const toolWriter =
  (losses: Losses) =>
  ({ name, description, parameters, strict, cached }: NeutralTool, index: number): Fields => {
    if (strict === true) losses.hint(`tools[${index}].strict`);
    noteCacheMark(cached, `tools[${index}]`, losses);
    const hasNoParameters =
      isJsonObject(parameters['properties']) && Object.keys(parameters['properties']).length === 0;
    return withoutNulls({ name, description, parametersJsonSchema: hasNoParameters ? null : parameters });
  };

/** Adds a cache mark to `losses`. Google caches prompts automatically, or by a separate request. */
function noteCacheMark(mark: CacheMark | undefined, where: string, losses: Losses): void {
  if (mark !== undefined) losses.hint(`${where}.cache_control`);
}

/** Turns of the conversation. Consecutive messages of one role become one turn. */
function writeContents(messages: readonly NeutralMessage[], losses: Losses): readonly Fields[] {
  const names = namesOfCalls(messages);
  const turns: { role: string; parts: Fields[] }[] = [];
  let hasTurns = false;
  messages.forEach((message, index) => {
    const where = `messages[${index}]`;
    if (message.role === 'system') {
      // Google has system text only at the start. Later system messages move there.
      if (hasTurns) losses.hint(`${where}.role`);
      for (const { cached } of message.content) noteCacheMark(cached, where, losses);
      return;
    }
    hasTurns = true;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = writeParts(message, names, where, losses);
    const last = turns.at(-1);
    if (parts.length === 0) return;
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  });
  return turns;
}

/** Function names by call id. Google's results need the function name. */
function namesOfCalls(messages: readonly NeutralMessage[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.kind === 'toolCall') names.set(part.id, part.name);
  }
  return names;
}

function writeParts(
  message: Exclude<NeutralMessage, { role: 'system' }>,
  names: ReadonlyMap<string, string>,
  where: string,
  losses: Losses,
): readonly Fields[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((part, index) => writePart(part, `${where}.content[${index}]`, losses));
    case 'tool':
      return message.results.flatMap((result) => writeResult(result, names, where, losses));
    case 'assistant':
      return message.content.flatMap((part): readonly Fields[] => {
        switch (part.kind) {
          case 'text':
            noteCacheMark(part.cached, where, losses);
            return part.text === '' ? [] : [{ text: part.text }];
          case 'refusal':
            return [{ text: part.text }];
          case 'toolCall': {
            const { id, name, arguments: text, proof } = part;
            const call = { functionCall: { id, name, args: argumentsOf(text) } };
            return [proof === undefined ? call : { ...call, thoughtSignature: proof }];
          }
          case 'reasoning':
            if (part.proof === null || part.redacted) {
              losses.hint(`${where}.reasoning`);
              return [];
            }
            return [{ text: part.text, thought: true, thoughtSignature: part.proof }];
        }
      });
  }
}

function writeResult(
  { callId, content, failed, cached }: ToolResult,
  names: ReadonlyMap<string, string>,
  where: string,
  losses: Losses,
): readonly Fields[] {
  noteCacheMark(cached, where, losses);
  const resultText = content.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
  const others = content.filter(({ kind }) => kind !== 'text');
  const response = failed ? { error: resultText } : (objectIn(resultText) ?? { result: resultText });
  return [
    { functionResponse: { id: callId, name: names.get(callId) ?? callId, response } },
    ...others.flatMap((part, index) => writePart(part, `${where}.content[${index}]`, losses)),
  ];
}

function objectIn(text: string): Fields | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function writePart(part: UserPart, where: string, losses: Losses): readonly Fields[] {
  if (part.kind === 'text') {
    noteCacheMark(part.cached, where, losses);
    return part.text === '' ? [] : [{ text: part.text }];
  }
  if (part.kind !== 'audio') noteCacheMark(part.cached, where, losses);
  if (part.kind === 'image' && part.detail !== null && part.detail !== 'auto') losses.hint(`${where}.detail`);
  const sourcePart = writeSource(part.source, part.kind);
  if (sourcePart === null) losses.essential(where);
  return sourcePart === null ? [] : [sourcePart];
}

/** Media types, by file extension of an address. */
const MEDIA_TYPES = lookupTable<string>({
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
});

/** A media part of Google's form. Null for the id of an uploaded file. */
function writeSource(source: Source, kind: 'image' | 'file' | 'audio'): Fields | null {
  if (source.form === 'id') return null;
  if (source.form === 'data') return { inlineData: { mimeType: source.mediaType, data: source.base64 } };
  const extension = /\.([a-z0-9]+)(?:[?#].*)?$/i.exec(source.url)?.[1]?.toLowerCase() ?? '';
  const mimeType = source.mediaType ?? MEDIA_TYPES[extension] ?? (kind === 'image' ? 'image/jpeg' : null);
  return { fileData: withoutNulls({ mimeType, fileUri: source.url }) };
}
