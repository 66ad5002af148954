import { createWalk, isMembers, listOf, type Members, type TextPlace, valueAt, type Walk } from './walk.ts';

/** One text of an event of a stream. */
export interface EventText {
  /** Texts of one channel are pieces of one longer text, in the order of the events. */
  readonly channel: string;
  readonly text: string;
  readonly path: TextPlace['path'];
  /**
   * `editable`: a text at a known place. `repeated`: a text that earlier events may contain, too. `unknown`: a text of
   * an unknown format, which may continue another text. Only `editable` texts can be edited.
   */
  readonly kind: 'editable' | 'repeated' | 'unknown';
}

type Path = EventText['path'];

/** Collects the texts of one event. */
interface Collector {
  /** Adds the text at a path. Other values are ignored. */
  text(channel: string, path: Path): void;
  /**
   * Adds the texts of the content at a path. `channel` returns the channel of a text by its place below the path. Where
   * `channel` is a text, this place is appended to it.
   */
  content(channel: string | ((below: Path) => string), path: Path, kind?: EventText['kind']): void;
  /** Adds every text of the value at a path, whose format is unknown. */
  others(path: Path): void;
}

/** Members of events of unknown formats that are not texts. */
const NOT_TEXTS: ReadonlySet<string> = new Set(
  (
    'id type object model role status index finish_reason stop_reason service_tier system_fingerprint ' +
    'b64_json partial_image_b64 result data encrypted_content usage'
  ).split(' '),
);

/** Types of the events of Responses, transcripts and Messages. */
const TYPED_EVENTS = /^(response\.|transcript\.|message_|content_block_|ping$|error$)/;

/**
 * The texts of one event of any dialect. `holder` is an object with the event as `value`: all paths begin with `value`.
 * `eventIndex` is the position of the event in the stream.
 */
export function eventTexts(holder: { readonly value: unknown }, eventIndex: number): readonly EventText[] {
  const found: EventText[] = [];
  function add(channel: string, path: Path, kind: EventText['kind'] = 'editable'): void {
    const text = valueAt(holder, path);
    if (typeof text === 'string' && text !== '') found.push({ channel, text, path, kind });
  }
  const placesOf = (read: (walk: Walk) => void): readonly Path[] => {
    const walk = createWalk();
    read(walk);
    return walk.places.map(({ path }) => path);
  };
  const collector: Collector = {
    text: add,
    content(channel, path, kind) {
      for (const place of placesOf((walk) => walk.content(valueAt(holder, path), path, 'assistant'))) {
        const below = place.slice(path.length);
        add(typeof channel === 'string' ? `${channel} ${below.join(' ')}` : channel(below), place, kind);
      }
    },
    others(path) {
      for (const place of placesOf((walk) => walk.everything(valueAt(holder, path), path, null, NOT_TEXTS)))
        add(`other ${place.slice(1).join(' ')}`, place, 'unknown');
    },
  };
  readEvent(holder.value, ['value'], eventIndex, collector);
  return found;
}

function readEvent(event: unknown, path: Path, eventIndex: number, collector: Collector): void {
  if (!isMembers(event)) return collector.others(path);
  const { type, delta, choices, candidates } = event;
  const isTyped = typeof type === 'string' && TYPED_EVENTS.test(type);
  const hasAlternatives = choices !== undefined || candidates !== undefined;
  if (isTyped) readTyped(event, type, path, collector);
  else if (!hasAlternatives) collector.others(path);
  else if (isMembers(delta)) collector.content('delta', [...path, 'delta']);
  if (hasAlternatives) readAlternatives(event, path, eventIndex, collector);
}

/** The alternative answers in an event: `choices` of chat completions, `candidates` of generateContent. */
function readAlternatives(
  { choices, candidates }: Members,
  path: Path,
  eventIndex: number,
  collector: Collector,
): void {
  collector.others([...path, 'error']);
  for (const [position, choice] of listOf(choices).entries())
    if (isMembers(choice)) readChoice(choice, indexOf(choice, position), [...path, 'choices', position], collector);
  for (const [position, candidate] of listOf(candidates).entries()) {
    if (!isMembers(candidate)) continue;
    const channel = candidateChannel(candidate, indexOf(candidate, position), eventIndex);
    collector.content(channel, [...path, 'candidates', position, 'content']);
  }
}

const indexOf = ({ index }: Members, position: number): number => (typeof index === 'number' ? index : position);

/** Events of Messages and Responses, and of transcripts. */
function readTyped(event: Members, type: string, path: Path, { text, content, others }: Collector): void {
  // In Responses, `delta` is a text: a piece of one part of an item. In Messages, it is an object: a piece of the block
  // with the `index` of the event.
  text(`${type} ${String(event['output_index'])} ${String(event['content_index'])}`, [...path, 'delta']);
  const block = `block ${String(event['index'])}`;
  if (isMembers(event['delta'])) {
    content(block, [...path, 'delta']);
    text(`${block} json`, [...path, 'delta', 'partial_json']);
    content(`${block} citation`, [...path, 'delta', 'citation']);
  }
  content(block, [...path, 'content_block']);
  content('message', [...path, 'message', 'content']);
  // Events at the end of a text, an item or an answer repeat its whole text.
  for (const member of ['text', 'arguments', 'refusal', 'code', 'input', 'item', 'part'])
    content(`${type} ${member}`, [...path, member], 'repeated');
  content('response', [...path, 'response', 'output'], 'repeated');
  for (const error of [['error'], ['response', 'error']]) others([...path, ...error]);
}

function readChoice(choice: Members, index: number, path: Path, { text, content }: Collector): void {
  text(`text ${index}`, [...path, 'text']);
  content(`message ${index}`, [...path, 'message']);
  const { delta } = choice;
  if (!isMembers(delta)) return;
  const inDelta = [...path, 'delta'];
  content((below) => deltaChannel(below, delta, index), inDelta);
}

/** Channel of a text in a delta: one for all pieces of the content, and one for the arguments of each tool call. */
function deltaChannel(below: Path, delta: Members, index: number): string {
  const [member, position] = below;
  if (member === 'content') return `delta ${index} ${below.filter((step) => typeof step === 'string').join(' ')}`;
  if (member !== 'tool_calls' || typeof position !== 'number') return `delta ${index} ${below.join(' ')}`;
  const call = listOf(delta['tool_calls'])[position];
  return `call ${index} ${isMembers(call) ? indexOf(call, position) : position} ${below.slice(2).join(' ')}`;
}

/**
 * Channels of the texts of a candidate. Its text parts are pieces of one text over all events. Its other parts are
 * complete in one event, so that their channels include the event.
 */
function candidateChannel({ content }: Members, index: number, eventIndex: number): (below: Path) => string {
  return (below) => {
    const [list, position, member] = below;
    const part = isMembers(content) && list === 'parts' ? listOf(content['parts'])[Number(position)] : undefined;
    if (!isMembers(part) || member !== 'text') return `candidate ${index} ${below.join(' ')} ${eventIndex}`;
    return `candidate ${index} ${part['thought'] === true ? 'thought' : 'text'}`;
  };
}
