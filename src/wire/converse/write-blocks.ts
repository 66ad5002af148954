import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralMessage,
  ReasoningPart,
  Source,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { argumentsOf, type Fields, withoutNulls, lookupTable } from '../json/fields.ts';

/** Document formats, by media type. */
const DOCUMENT_FORMATS = lookupTable<string>({
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
});
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

/** Writes the content blocks of the messages of one request. */
export interface BlockWriter {
  blocksOf(message: Exclude<NeutralMessage, { role: 'system' }>, where: string): readonly Fields[];
}

/** Creates the writer of one request. It adds unsupported parts to `losses`. */
export function createBlockWriter(losses: Losses): BlockWriter {
  /** Converse requires unique document names in a request. */
  const usedNames = new Set<string>();

  function writeUserPart(part: UserPart, where: string): readonly Fields[] {
    const block = part.kind === 'text' ? textBlock(part.text) : sourceBlock(part, part.source, where);
    return part.kind === 'audio' ? block : [...block, ...cachePoint(part.cached)];
  }

  function sourceBlock(part: Exclude<UserPart, { kind: 'text' }>, source: Source, where: string): readonly Fields[] {
    const location = locationOf(source);
    if (location !== null && part.kind === 'image') {
      const format = IMAGE.exec(mediaTypeOf(source))?.[1];
      if (part.detail !== null && part.detail !== 'auto') losses.hint(`${where}.detail`);
      if (format !== undefined) return [{ image: { format, source: location } }];
    }
    if (location !== null && part.kind === 'file') {
      const format = DOCUMENT_FORMATS[mediaTypeOf(source)];
      if (format !== undefined)
        return [{ document: { format, name: documentName(part.name, usedNames), source: location } }];
    }
    losses.essential(where);
    return [];
  }

  function writeAssistantPart(part: AssistantPart, where: string): readonly Fields[] {
    switch (part.kind) {
      case 'text':
        return [...textBlock(part.text), ...cachePoint(part.cached)];
      case 'refusal':
        return textBlock(part.text);
      case 'toolCall':
        if (part.proof !== undefined) losses.hint(`${where}.tool_calls.proof`);
        return [{ toolUse: { toolUseId: part.id, name: part.name, input: argumentsOf(part.arguments) } }];
      case 'reasoning':
        return writeReasoning(part, where);
    }
  }

  function writeReasoning({ text, proof, redacted }: ReasoningPart, where: string): readonly Fields[] {
    // Converse rejects reasoning without a signature.
    if (proof === null) {
      losses.hint(`${where}.reasoning`);
      return [];
    }
    return [
      { reasoningContent: redacted ? { redactedContent: proof } : { reasoningText: { text, signature: proof } } },
    ];
  }

  function writeResult({ callId, content, failed, cached }: ToolResult, where: string): readonly Fields[] {
    const blocks = content.flatMap((part, index) => writeUserPart(part, `${where}.content[${index}]`));
    const status = failed ? 'error' : null;
    return [{ toolResult: withoutNulls({ toolUseId: callId, content: blocks, status }) }, ...cachePoint(cached)];
  }

  return {
    blocksOf(message, where) {
      switch (message.role) {
        case 'user':
          return message.content.flatMap((part, index) => writeUserPart(part, `${where}.content[${index}]`));
        case 'assistant':
          return message.content.flatMap((part) => writeAssistantPart(part, where));
        case 'tool':
          return message.results.flatMap((result) => writeResult(result, where));
      }
    },
  };
}

/** Cache point, which follows the content to cache. Empty without a mark. */
export const cachePoint = (mark: CacheMark | undefined): readonly Fields[] =>
  mark === undefined ? [] : [{ cachePoint: withoutNulls({ type: 'default', ttl: mark.ttl }) }];

/** Text block. Empty for blank text, which Converse rejects. */
const textBlock = (text: string): readonly Fields[] => (text.trim() === '' ? [] : [{ text }]);

const mediaTypeOf = (source: Source): string => (source.form === 'id' ? '' : (source.mediaType ?? '')).toLowerCase();

/** Inline bytes or an S3 location. Null for file ids, and for other addresses, which Bedrock does not fetch. */
function locationOf(source: Source): Fields | null {
  if (source.form === 'data') return { bytes: source.base64 };
  return source.form === 'url' && source.url.startsWith('s3://') ? { s3Location: { uri: source.url } } : null;
}

/** Converse allows 200 characters. The difference is for the number that makes a name unique. */
const MAX_NAME_LENGTH = 180;

/** Unique document name with the allowed characters only. Adds the name to `usedNames`. */
function documentName(fileName: string | null, usedNames: Set<string>): string {
  const allowed = (fileName ?? 'document')
    .replace(/\.[A-Za-z0-9]+$/, '')
    .replace(/[^A-Za-z0-9\s\-()[\]]+/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH);
  const base = allowed === '' ? 'document' : allowed;
  let name = base;
  for (let number = 2; usedNames.has(name); number += 1) name = `${base} (${number})`;
  usedNames.add(name);
  return name;
}
