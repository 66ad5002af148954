import { isMembers, listOf } from './walk.ts';

type Members = Record<string, unknown>;

/** One text of an event of a stream. */
interface EventText {
  /** Texts of one channel follow each other. */
  readonly channel: string;
  readonly text: string;
  set(text: string): void;
}

/** The text of a stream by channel: what was released, and what waits for a check. */
export interface StreamTexts {
  hear(channel: string, text: string): void;
  /** Characters that wait. */
  readonly waiting: number;
  /** The texts to check: the waiting part of each with some of what was released before it; all of it at the end. */
  texts(isLast: boolean): readonly string[];
  /**
   * Releases what waits. `edited` are the texts after a check; null where they stay. Returns the new waiting text of each
   * channel, or null where an edit changes what was released before.
   */
  release(edited: readonly string[] | null): ReadonlyMap<string, string> | null;
}

/** Characters before the waiting ones that are checked again, so that what lies across two checks is found. */
const OVERLAP = 4_000;

export function createStreamTexts(): StreamTexts {
  const channels = new Map<string, { sent: string; waiting: string; context: string }>();
  let waiting = 0;
  return {
    hear(channel, text) {
      if (text === '') return;
      const known = channels.get(channel);
      if (known === undefined) channels.set(channel, { sent: '', waiting: text, context: '' });
      else known.waiting += text;
      waiting += text.length;
    },
    get waiting() {
      return waiting;
    },
    texts: (isLast) =>
      [...channels.values()].map((one) => {
        one.context = isLast ? one.sent : one.sent.slice(-OVERLAP);
        return one.context + one.waiting;
      }),
    release(edited) {
      const all = [...channels];
      const next = new Map<string, string>();
      for (const [index, [channel, one]] of all.entries()) {
        const text = edited?.[index] ?? one.context + one.waiting;
        if (!text.startsWith(one.context)) return null;
        next.set(channel, text.slice(one.context.length));
      }
      for (const [channel, one] of all) {
        one.sent += next.get(channel) ?? '';
        one.waiting = '';
      }
      waiting = 0;
      return next;
    },
  };
}

const DATA = 'data:';

/** The event in a line of a stream of server-sent events; null for any other line. */
function eventIn(line: string): Members | null {
  if (!line.startsWith(DATA)) return null;
  try {
    const value: unknown = JSON.parse(line.slice(DATA.length));
    return isMembers(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Texts in a line of a stream. */
export function textsInLine(line: string): readonly Pick<EventText, 'channel' | 'text'>[] {
  const event = eventIn(line);
  return event === null ? [] : textsOf(event);
}

/** Lines whose texts are replaced: the first text of a channel by its new text, the others by nothing. */
export function withStreamTexts(lines: readonly string[], texts: ReadonlyMap<string, string>): readonly string[] {
  const written = new Set<string>();
  return lines.map((line) => {
    const event = eventIn(line);
    const found = event === null ? [] : textsOf(event);
    if (found.length === 0) return line;
    for (const one of found) {
      one.set(written.has(one.channel) ? '' : (texts.get(one.channel) ?? ''));
      written.add(one.channel);
    }
    return `data: ${JSON.stringify(event)}${line.endsWith('\r') ? '\r' : ''}`;
  });
}

/** The texts of one event of any dialect of conversations. */
function textsOf(event: Members): readonly EventText[] {
  const found: EventText[] = [];
  const add = (channel: string, holder: Readonly<Members>, member: string): void => {
    const text = holder[member];
    if (typeof text !== 'string' || text === '') return;
    found.push({ channel, text, set: (next) => void Object.assign(holder, { [member]: next }) });
  };
  const { type, delta, content_block: block, index } = event;
  // Responses: `delta` is the text, in the part of an item.
  if (typeof type === 'string')
    add(`${type} ${String(event['output_index'])} ${String(event['content_index'])}`, event, 'delta');
  // Messages: an object for the block at an index.
  if (isMembers(delta))
    for (const member of ['text', 'partial_json', 'thinking']) add(`${member} ${String(index)}`, delta, member);
  if (isMembers(block)) add(`text ${String(index)}`, block, 'text');
  for (const [position, choice] of listOf(event['choices']).entries())
    if (isMembers(choice)) addChoice(choice, position, add);
  for (const [position, candidate] of listOf(event['candidates']).entries()) {
    const content = isMembers(candidate) ? candidate['content'] : undefined;
    for (const part of isMembers(content) ? listOf(content['parts']) : []) {
      if (!isMembers(part)) continue;
      add(`candidate ${position}`, part, 'text');
      const call = part['functionCall'];
      const args = isMembers(call) ? call['args'] : undefined;
      if (isMembers(args)) for (const name of Object.keys(args)) add(`candidate ${position} ${name}`, args, name);
    }
  }
  return found;
}

type Add = (channel: string, holder: Readonly<Members>, member: string) => void;

function addChoice(choice: Readonly<Members>, position: number, add: Add): void {
  const { index: stated, delta } = choice;
  const index = typeof stated === 'number' ? stated : position;
  add(`text ${index}`, choice, 'text');
  if (!isMembers(delta)) return;
  for (const member of ['content', 'reasoning_content', 'refusal']) add(`${member} ${index}`, delta, member);
  for (const call of listOf(delta['tool_calls'])) {
    const called = isMembers(call) ? call['function'] : undefined;
    if (isMembers(call) && isMembers(called)) add(`call ${index} ${String(call['index'])}`, called, 'arguments');
  }
}
