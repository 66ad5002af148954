import { createWalk, isMembers, listOf, type Members, type TextPlace, valueAt, type Walk } from './walk.ts';

/** One text of an event of a stream. */
export interface EventText {
  /** Texts of one channel follow each other. */
  readonly channel: string;
  readonly text: string;
  readonly path: TextPlace['path'];
  /**
   * `editable`: a text at a known place. `repeated`: earlier events may contain it, too. `unknown`: a text of an
   * unknown format, which may continue another text. Only an `editable` text can be edited.
   */
  readonly kind: 'editable' | 'repeated' | 'unknown';
}

type Path = EventText['path'];

/** Collects the texts of one event. */
interface Reading {
  /** A text. Other values are ignored. */
  text(channel: string, path: Path): void;
  /** The texts of a content. The channel is named by the place below the path, unless a function names it. */
  content(channel: string | ((below: Path) => string), path: Path, kind?: EventText['kind']): void;
  /** Every text of a value of an unknown format. */
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
 * The texts of one event of any dialect. `holder` is an object with the event as `value`; paths begin at it. `count` is
 * the number of earlier events.
 */
export function eventTexts(holder: { readonly value: unknown }, count: number): readonly EventText[] {
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
  const reading: Reading = {
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
  readEvent(holder.value, ['value'], count, reading);
  return found;
}

function readEvent(event: unknown, path: Path, count: number, { text, content, others }: Reading): void {
  if (!isMembers(event)) return others(path);
  const { type, delta, choices, candidates } = event;
  if (typeof type === 'string' && TYPED_EVENTS.test(type)) readTyped(event, type, path, { text, content, others });
  else if (choices === undefined && candidates === undefined) others(path);
  else if (isMembers(delta)) content('delta', [...path, 'delta']);
  if (choices !== undefined || candidates !== undefined) others([...path, 'error']);
  for (const [position, choice] of listOf(choices).entries())
    if (isMembers(choice))
      readChoice(choice, indexOf(choice, position), [...path, 'choices', position], { text, content, others });
  for (const [position, candidate] of listOf(candidates).entries())
    if (isMembers(candidate))
      content(candidateChannel(candidate, indexOf(candidate, position), count), [
        ...path,
        'candidates',
        position,
        'content',
      ]);
}

const indexOf = ({ index }: Members, position: number): number => (typeof index === 'number' ? index : position);

/** Events of Messages and Responses, and of transcripts. */
function readTyped(event: Members, type: string, path: Path, { text, content, others }: Reading): void {
  // Responses: `delta` is the text of one part of an item. Messages: `delta` is an object, of the block with the
  // `index`.
  text(`${type} ${String(event['output_index'])} ${String(event['content_index'])}`, [...path, 'delta']);
  const block = `block ${String(event['index'])}`;
  if (isMembers(event['delta'])) {
    content(block, [...path, 'delta']);
    text(`${block} json`, [...path, 'delta', 'partial_json']);
    content(`${block} citation`, [...path, 'delta', 'citation']);
  }
  content(block, [...path, 'content_block']);
  content('message', [...path, 'message', 'content']);
  // Events that end a text, item or answer repeat its text.
  for (const member of ['text', 'arguments', 'refusal', 'code', 'input', 'item', 'part'])
    content(`${type} ${member}`, [...path, member], 'repeated');
  content('response', [...path, 'response', 'output'], 'repeated');
  for (const error of [['error'], ['response', 'error']]) others([...path, ...error]);
}

function readChoice(choice: Members, index: number, path: Path, { text, content }: Reading): void {
  text(`text ${index}`, [...path, 'text']);
  content(`message ${index}`, [...path, 'message']);
  const { delta } = choice;
  if (!isMembers(delta)) return;
  const inDelta = [...path, 'delta'];
  content((below) => deltaChannel(below, delta, index), inDelta);
}

/** Pieces of a content follow each other, and so do those of the arguments of one tool call. */
function deltaChannel(below: Path, delta: Members, index: number): string {
  const [member, position] = below;
  if (member === 'content') return `delta ${index} ${below.filter((step) => typeof step === 'string').join(' ')}`;
  if (member !== 'tool_calls' || typeof position !== 'number') return `delta ${index} ${below.join(' ')}`;
  const call = listOf(delta['tool_calls'])[position];
  return `call ${index} ${isMembers(call) ? indexOf(call, position) : position} ${below.slice(2).join(' ')}`;
}

/** Text parts of a candidate follow each other, over all events. Its other parts are complete in one event. */
function candidateChannel({ content }: Members, index: number, count: number): (below: Path) => string {
  return (below) => {
    const [list, position, member] = below;
    const part = isMembers(content) && list === 'parts' ? listOf(content['parts'])[Number(position)] : undefined;
    if (!isMembers(part) || member !== 'text') return `candidate ${index} ${below.join(' ')} ${count}`;
    return `candidate ${index} ${part['thought'] === true ? 'thought' : 'text'}`;
  };
}
