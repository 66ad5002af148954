import { editedJson } from './answer-texts.ts';
import { type EventText, eventTexts } from './event-texts.ts';
import { setTextAt } from './walk.ts';

/** An event of a stream, or its replacement. */
export interface StreamEvent {
  /** All of its characters, with the empty line at its end. */
  readonly raw: string;
  readonly texts: readonly Omit<EventText, 'path'>[];
  /**
   * The event with other texts, which `next` returns by channel. Members that would repeat the texts before the edits
   * become null.
   */
  withTexts(next: (channel: string) => string): string;
  /** The JSON values of the event. They are parsed again. */
  values(): readonly unknown[];
}

/** Splits a stream of server-sent events. */
export interface EventReader {
  /** The events that end in the next characters. */
  read(text: string): readonly StreamEvent[];
  /** The events that remain at the end of the stream. The last one may lack its empty line. */
  end(): readonly StreamEvent[];
  /** Number of characters read of the event that has not ended yet. */
  readonly open: number;
}

interface Line {
  readonly text: string;
  /** The characters that end the line. */
  readonly end: string;
}

const LINE_END = /\r\n|\n|\r/g;

export function createEventReader(): EventReader {
  /** Complete lines of the current event, and the number of their characters. */
  let lines: Line[] = [];
  let openLength = 0;
  /** The next line, as far as it was read. */
  let rest = '';
  /** A carriage return at the end of what was read. A line feed may follow it. */
  let pending = '';
  let eventIndex = 0;

  function endEvent(): StreamEvent {
    const event = eventOf(lines, eventIndex);
    eventIndex += 1;
    lines = [];
    return event;
  }

  function split(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let from = 0;
    for (const { 0: end, index } of text.matchAll(LINE_END)) {
      const line = rest + text.slice(from, index);
      rest = '';
      from = index + end.length;
      lines.push({ text: line, end });
      openLength += line.length + end.length;
      if (line !== '') continue;
      events.push(endEvent());
      openLength = 0;
    }
    rest += text.slice(from);
    return events;
  }

  return {
    read(text) {
      const all = pending + text;
      pending = all.endsWith('\r') ? '\r' : '';
      return split(pending === '' ? all : all.slice(0, -1));
    },
    end() {
      const events = split(pending);
      if (rest !== '') lines.push({ text: rest, end: '' });
      return lines.length === 0 ? events : [...events, endEvent()];
    },
    get open() {
      return openLength + rest.length + pending.length;
    },
  };
}

/** A JSON value in the data of an event. */
interface Value {
  /** Indices of its lines in the event. */
  readonly lineIndexes: readonly number[];
  /** Object with the value, so that an edit can replace a value that is a text. */
  readonly holder: { readonly value: unknown };
}

/** Data that is not JSON, or lines that belong to no field. */
interface Plain {
  readonly channel: string;
  readonly text: string;
}

/** Data of the last event in some dialects. It is not JSON. */
const END = '[DONE]';
// Both expressions allow a byte order mark, which may begin the stream.
const DATA = /^\uFEFF?data: ?/;
/** Lines that are fields or comments. */
const FIELD_OR_COMMENT = /^\uFEFF?(:|(data|event|id|retry)(:|$)|$)/;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The data of one line of an event. */
interface DataLine {
  /** Index of the line in the event. */
  readonly at: number;
  readonly text: string;
}

/**
 * The JSON values in the data lines of an event, and the lines that are not JSON. Some servers write a value on each
 * line, others write one value on several lines.
 */
function valuesIn(data: readonly DataLine[]): {
  readonly values: readonly Value[];
  readonly unread: readonly string[];
} {
  const separate = data.map(({ at, text }) => ({ at, text, value: parsed(text) }));
  const areAllJson = separate.every(({ value }) => value !== undefined);
  const joined = areAllJson || data.length < 2 ? undefined : parsed(data.map(({ text }) => text).join('\n'));
  if (joined !== undefined)
    return { values: [{ lineIndexes: data.map(({ at }) => at), holder: { value: joined } }], unread: [] };
  return {
    values: separate.flatMap(({ at, value }) =>
      value === undefined ? [] : [{ lineIndexes: [at], holder: { value } }],
    ),
    unread: separate.flatMap(({ text, value }) => (value === undefined ? [text] : [])),
  };
}

/** The values in the lines of an event, and the plain texts. */
function contentOf(lines: readonly Line[]): { readonly values: readonly Value[]; readonly plain: readonly Plain[] } {
  const data = [...lines.entries()].flatMap(([at, { text }]): readonly DataLine[] => {
    const start = DATA.exec(text)?.[0].length;
    if (start === undefined) return [];
    const content = text.slice(start);
    return content.trim() === END ? [] : [{ at, text: content }];
  });
  const { values, unread } = valuesIn(data);
  const stray = lines.filter(({ text }) => !FIELD_OR_COMMENT.test(text));
  return {
    values,
    plain: [
      { channel: 'data', text: unread.join('\n') },
      { channel: 'line', text: stray.map(({ text }) => text).join('\n') },
    ],
  };
}

/** The texts of plain lines, none of which can be edited. Lines that belong to no field may be JSON. */
function plainTexts({ channel, text }: Plain, eventIndex: number): readonly EventText[] {
  if (text === '') return [];
  const value = parsed(text);
  if (value === undefined) return [{ channel, text, path: [], kind: 'unknown' }];
  return eventTexts({ value }, eventIndex).map((one) => ({ ...one, kind: 'unknown' }));
}

function eventOf(lines: readonly Line[], eventIndex: number): StreamEvent {
  const { values, plain } = contentOf(lines);
  const texts = [
    ...values.flatMap(({ holder }) => eventTexts(holder, eventIndex)),
    ...plain.flatMap((one) => plainTexts(one, eventIndex)),
  ];
  return {
    raw: lines.map(({ text, end }) => text + end).join(''),
    texts: texts.map(({ channel, text, kind }) => ({ channel, text, kind })),
    values: () => contentOf(lines).values.map(({ holder }) => holder.value),
    withTexts(next) {
      const written: (string | null)[] = lines.map(({ text }) => text);
      // The lines are parsed again: a waiting event keeps only its text in memory.
      for (const { lineIndexes, holder } of contentOf(lines).values) {
        for (const { channel, path, kind } of eventTexts(holder, eventIndex))
          if (kind === 'editable') setTextAt(holder, path, next(channel));
        for (const index of lineIndexes) written[index] = null;
        written[lineIndexes[0] ?? 0] = `data: ${editedJson(holder.value)}`;
      }
      return written.map((text, at) => (text === null ? '' : text + (lines[at]?.end ?? ''))).join('');
    },
  };
}
