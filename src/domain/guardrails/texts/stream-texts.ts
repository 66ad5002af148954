import { createWalk, isMembers, listOf, type Members, type Place, withoutEscapes } from './walk.ts';

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
const END = '[DONE]';
/** Most characters of one line. A longer one is not read. */
const MOST_LINE = 32 * 1024 * 1024;

export function createStreamTexts(): StreamTexts {
  const decoder = new TextDecoder();
  const channels = new Map<string, string>();
  let rest = '';
  /** Data of an event so far, which may have several lines. */
  let data = '';
  let length = 0;
  const heard: Heard = (channel, text) => {
    if (typeof text !== 'string' || text === '') return;
    channels.set(channel, (channels.get(channel) ?? '') + text);
    length += text.length;
  };
  const repeated: Heard = (channel, text) => {
    const isKnown = typeof text === 'string' && channels.values().some((known) => known === text);
    if (!isKnown) heard(channel, text);
  };

  function line(text: string): void {
    if (text === '') {
      if (data.trim() !== END) heard('data', data);
      data = '';
    }
    if (!text.startsWith(DATA)) return;
    data += `${data === '' ? '' : '\n'}${text.slice(DATA.length)}`;
    const event = parsed(data);
    if (event === undefined) return;
    data = '';
    if (isMembers(event)) readEvent(event, heard, repeated);
    else others(event, heard);
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
      if (open.startsWith(DATA) && parsed(open.slice(DATA.length)) !== undefined) {
        rest = '';
        line(open);
      }
      return [...channels.values()].map(withoutEscapes);
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

function placesOf(read: (walk: ReturnType<typeof createWalk>) => void): readonly Place[] {
  const walk = createWalk();
  read(walk);
  return walk.places;
}

/** The texts of a content, each in the channel of its place. */
function content(value: unknown, channel: string, heard: Heard): void {
  for (const { path, text } of placesOf((walk) => walk.content(value, [], 'assistant')))
    heard(`${channel} ${path.join(' ')}`, text);
}

/** Members of events of unknown formats that are no texts. */
const FACTS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'object',
  'model',
  'role',
  'status',
  'index',
  'finish_reason',
  'stop_reason',
  'service_tier',
  'system_fingerprint',
  'b64_json',
  'partial_image_b64',
  'result',
  'data',
  'encrypted_content',
  'usage',
]);

/** Every text of an event of an unknown format. */
function others(event: unknown, heard: Heard): void {
  for (const { path, text } of placesOf((walk) => walk.everything(event, [], null, FACTS)))
    heard(`other ${path.join(' ')}`, text);
}

const CONVERSATIONS = /^(response\.|transcript\.|message_|content_block_|ping$|error$)/;

/** Reads one event of any dialect. `repeated` takes texts that earlier events may have had. */
function readEvent(event: Members, heard: Heard, repeated: Heard): void {
  const { type, delta, choices, candidates } = event;
  if (typeof type === 'string' && CONVERSATIONS.test(type)) readTyped(event, type, heard, repeated);
  else if (choices === undefined && candidates === undefined) others(event, heard);
  else if (isMembers(delta)) content(delta, 'delta', heard);
  for (const [position, choice] of listOf(choices).entries())
    if (isMembers(choice)) readChoice(choice, position, heard);
  for (const [index, candidate] of listOf(candidates).entries())
    if (isMembers(candidate)) content(candidate['content'], `candidate ${index}`, heard);
}

/** Events of Messages and Responses, and of transcripts. */
function readTyped(event: Members, type: string, heard: Heard, repeated: Heard): void {
  const { delta } = event;
  // Responses: `delta` is the text, in the part of an item.
  if (typeof delta === 'string')
    heard(`${type} ${String(event['output_index'])} ${String(event['content_index'])}`, delta);
  const block = `block ${String(event['index'])}`;
  // Messages: an object for the block at an index.
  if (isMembers(delta)) {
    content(delta, block, heard);
    heard(`${block} json`, delta['partial_json']);
    content(delta['citation'], `${block} citation`, heard);
  }
  content(event['content_block'], block, heard);
  const { message, response } = event;
  if (isMembers(message)) content(message['content'], 'message', heard);
  // The ends of texts, items and answers have the texts again.
  for (const member of ['text', 'arguments', 'refusal', 'code', 'input', 'item', 'part'])
    content(event[member], `${type} ${member}`, repeated);
  if (isMembers(response)) content(response['output'], 'response', repeated);
}

function readChoice(choice: Members, position: number, heard: Heard): void {
  const { index: stated } = choice;
  const index = typeof stated === 'number' ? stated : position;
  heard(`text ${index}`, choice['text']);
  content(choice['message'], `message ${index}`, heard);
  const { delta } = choice;
  if (!isMembers(delta)) return;
  const { tool_calls: calls, ...texts } = delta;
  content(texts, `delta ${index}`, heard);
  for (const call of listOf(calls)) {
    const called = isMembers(call) ? call['function'] : undefined;
    if (isMembers(call) && isMembers(called)) heard(`call ${index} ${String(call['index'])}`, called['arguments']);
    else content(call, `call ${index}`, heard);
  }
}
