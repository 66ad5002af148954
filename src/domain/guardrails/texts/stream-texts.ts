import { isMembers, listOf } from './walk.ts';

/** Reads the texts of a stream of server-sent events, one text for each of its channels. */
export interface StreamTexts {
  /** Takes the next bytes of the stream. */
  add(bytes: Uint8Array): void;
  /** The texts so far. */
  texts(): readonly string[];
  /** Characters so far. */
  readonly length: number;
}

const DATA = 'data:';
/** Most characters of one line. A longer one is not read. */
const MOST_LINE = 32 * 1024 * 1024;

export function createStreamTexts(): StreamTexts {
  const decoder = new TextDecoder();
  const channels = new Map<string, string>();
  let rest = '';
  let length = 0;
  const heard = (channel: string, text: unknown): void => {
    if (typeof text !== 'string' || text === '') return;
    channels.set(channel, (channels.get(channel) ?? '') + text);
    length += text.length;
  };

  function line(text: string): void {
    if (!text.startsWith(DATA)) return;
    const event = parsed(text.slice(DATA.length));
    if (isMembers(event)) readEvent(event, heard);
  }

  return {
    add(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      if (rest.length > MOST_LINE) rest = '';
      for (const one of lines) line(one);
    },
    texts() {
      // The last event may have no line end.
      const open = rest;
      rest = '';
      line(open);
      rest = parsed(open.slice(DATA.length)) === undefined ? open : '';
      return [...channels.values()];
    },
    get length() {
      return length;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Heard = (channel: string, text: unknown) => void;

/** Reads one event of any dialect of conversations. */
function readEvent(event: Readonly<Record<string, unknown>>, heard: Heard): void {
  const { type, delta } = event;
  // Responses: `delta` is the text, in the part of an item.
  if (typeof delta === 'string' && typeof type === 'string')
    heard(`${type} ${String(event['output_index'])} ${String(event['content_index'])}`, delta);
  // Messages: an object for the block at an index.
  if (isMembers(delta))
    for (const member of ['text', 'partial_json', 'thinking'])
      heard(`${member} ${String(event['index'])}`, delta[member]);
  const block = event['content_block'];
  if (isMembers(block)) heard(`text ${String(event['index'])}`, block['text']);
  for (const [position, choice] of listOf(event['choices']).entries())
    if (isMembers(choice)) readChoice(choice, position, heard);
  for (const [index, candidate] of listOf(event['candidates']).entries()) {
    const content = isMembers(candidate) ? candidate['content'] : undefined;
    for (const part of isMembers(content) ? listOf(content['parts']) : []) {
      if (!isMembers(part)) continue;
      heard(`candidate ${index}`, part['text']);
      const call = part['functionCall'];
      if (isMembers(call)) heard(`candidate ${index} call`, JSON.stringify(call['args'] ?? null));
    }
  }
}

function readChoice(choice: Readonly<Record<string, unknown>>, position: number, heard: Heard): void {
  const { index: stated } = choice;
  const index = typeof stated === 'number' ? stated : position;
  heard(`text ${index}`, choice['text']);
  const { delta } = choice;
  if (!isMembers(delta)) return;
  for (const member of ['content', 'reasoning_content', 'refusal']) heard(`${member} ${index}`, delta[member]);
  for (const call of listOf(delta['tool_calls'])) {
    const called = isMembers(call) ? call['function'] : undefined;
    if (isMembers(call) && isMembers(called)) heard(`call ${index} ${String(call['index'])}`, called['arguments']);
  }
}
