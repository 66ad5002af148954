import type {
  AssistantPart,
  Losses,
  NeutralMessage,
  Source,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { type Fields, list, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';
import { camelCased } from './names.ts';

/** A tool call whose result was not read yet. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/**
 * Reads the turns of a conversation. Function calls without an id get one. Results without an id belong to the first
 * open call of their function. Adds unsupported parts to `losses`. Throws InvalidInput.
 */
export function readContents(contents: unknown, losses: Losses): readonly NeutralMessage[] {
  const openCalls: OpenCall[] = [];
  let generatedIds = 0;

  function generateId(): string {
    generatedIds += 1;
    return `call_${generatedIds}`;
  }

  function readModel(parts: readonly Fields[], where: string): NeutralMessage {
    const content = parts.flatMap((part, index): AssistantPart[] => {
      const call = camelCased(part['functionCall']);
      const proof = text(part['thoughtSignature']);
      if (part['functionCall'] !== undefined) {
        const name = text(call['name']);
        if (name === null) throw malformed(`${where}.parts[${index}].functionCall.name`, 'a string');
        const id = text(call['id']) ?? generateId();
        openCalls.push({ id, name });
        const args = JSON.stringify(call['args'] ?? {});
        return [{ kind: 'toolCall', id, name, arguments: args, ...(proof === null ? {} : { proof }) }];
      }
      const words = text(part['text']);
      if (words === null) {
        losses.essential(`${where}.parts[${index}]`);
        return [];
      }
      if (part['thought'] === true) return [{ kind: 'reasoning', text: words, proof, redacted: false }];
      // The signature of a text part becomes a reasoning part without text.
      const proofParts: AssistantPart[] =
        proof === null ? [] : [{ kind: 'reasoning', text: '', proof, redacted: false }];
      return words === '' ? proofParts : [...proofParts, { kind: 'text', text: words }];
    });
    return { role: 'assistant', content };
  }

  function readResult(part: Fields, where: string): ToolResult {
    const result = camelCased(part['functionResponse']);
    const name = text(result['name']);
    if (name === null) throw malformed(`${where}.functionResponse.name`, 'a string');
    const id = text(result['id']);
    const openIndex = openCalls.findIndex((call) => (id === null ? call.name === name : call.id === id));
    const [answeredCall] = openIndex === -1 ? [] : openCalls.splice(openIndex, 1);
    const response = camelCased(result['response']);
    const failed = response['error'] !== undefined;
    const responseText = textOfResponse(result['response']);
    const attached = list(result['parts']).map((one, index) =>
      readPart(camelCased(one), `${where}.parts[${index}]`, losses),
    );
    return {
      callId: id ?? answeredCall?.id ?? name,
      content: [
        ...(responseText === '' ? [] : [{ kind: 'text' as const, text: responseText }]),
        ...attached.filter((one) => one !== null),
      ],
      failed,
    };
  }

  function readUser(parts: readonly Fields[], where: string): readonly NeutralMessage[] {
    const results: ToolResult[] = [];
    const content: UserPart[] = [];
    parts.forEach((part, index) => {
      const place = `${where}.parts[${index}]`;
      if (part['functionResponse'] !== undefined) {
        results.push(readResult(part, place));
        return;
      }
      const userPart = readPart(part, place, losses);
      if (userPart !== null) content.push(userPart);
    });
    const hasResults = results.length > 0;
    const hasOnlyResults = hasResults && content.length === 0;
    return [
      ...(hasResults ? [{ role: 'tool' as const, results }] : []),
      ...(hasOnlyResults ? [] : [{ role: 'user' as const, content }]),
    ];
  }

  return list(contents).flatMap((item, index): readonly NeutralMessage[] => {
    const where = `contents[${index}]`;
    const turn = camelCased(item);
    const parts = list(turn['parts']).map(camelCased);
    const role = turn['role'] ?? 'user';
    if (role === 'model') return [readModel(parts, where)];
    if (role === 'user' || role === 'function') return readUser(parts, where);
    throw malformed(`${where}.role`, 'user or model');
  });
}

/** Function response as text: the string of a single `output`, `result` or `error` member, else the JSON text. */
function textOfResponse(response: unknown): string {
  const fields = camelCased(response);
  const entries = Object.entries(fields);
  const [name = '', value] = entries[0] ?? [];
  const isTextMember = ['output', 'result', 'error'].includes(name) && typeof value === 'string';
  if (isTextMember && entries.length === 1) return value;
  return response === undefined ? '' : JSON.stringify(response);
}

function readPart(part: Fields, where: string, losses: Losses): UserPart | null {
  const words = text(part['text']);
  if (words !== null) return { kind: 'text', text: words };
  const source = readSource(part, where);
  if (source === null) {
    losses.essential(where);
    return null;
  }
  const mediaType = source.form === 'id' ? '' : (source.mediaType ?? '');
  if (mediaType.startsWith('image/')) return { kind: 'image', source, detail: null };
  if (mediaType.startsWith('audio/')) return { kind: 'audio', source };
  return { kind: 'file', source, name: text(camelCased(part['inlineData'] ?? part['fileData'])['displayName']) };
}

function readSource(part: Fields, where: string): Source | null {
  if (part['inlineData'] !== undefined) {
    const { mimeType, data } = camelCased(part['inlineData']);
    if (typeof data !== 'string' || typeof mimeType !== 'string')
      throw malformed(`${where}.inlineData`, 'an object with mimeType and data');
    return { form: 'data', mediaType: mimeType, base64: data };
  }
  if (part['fileData'] === undefined) return null;
  const { mimeType, fileUri } = camelCased(part['fileData']);
  if (typeof fileUri !== 'string') throw malformed(`${where}.fileData.fileUri`, 'a string');
  return { form: 'url', url: fileUri, mediaType: text(mimeType) };
}
