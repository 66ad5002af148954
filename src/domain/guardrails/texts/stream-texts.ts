import type { EventText } from './event-texts.ts';
import type { StreamEvent } from './stream-events.ts';
import { withoutEscapes } from './walk.ts';

type TextKind = EventText['kind'];

/** The texts of a stream, one for each channel. Each has a released part, and a part that waits for a check. */
export interface StreamTexts {
  /** Adds the next text of a channel. Absent `kind` is `editable`. */
  append(channel: string, text: string, kind?: TextKind): void;
  /** Number of characters that wait for a check. */
  readonly waiting: number;
  /**
   * Whether `append` has skipped a repeated text, because a channel has the same text. Edits do not change that copy.
   */
  readonly hasCopies: boolean;
  /**
   * The texts to check, with decoded `\uXXXX` escapes. With `isLast` they are the whole text of each channel. Otherwise
   * they are the waiting part of each channel, with some released text before it.
   */
  texts(isLast: boolean): readonly string[];
  /**
   * Releases the waiting texts. `edited` are the texts after a check; null when none was edited. Returns the text to
   * release for each channel. Returns null when an edit cannot be made: it changes released text, a text that cannot be
   * edited, or escapes.
   */
  release(edited: readonly string[] | null): ReadonlyMap<string, string> | null;
  /** The released text of the answer, without reasoning and without texts that cannot be edited. */
  released(): string;
}

/** Channels of reasoning, in any dialect. */
const REASONING = /reasoning|thinking|thought|summary/;

/** Number of released characters that are checked again, so that a match across two checks is found. */
const OVERLAP = 4_000;

interface Channel {
  /** Whether its text cannot be edited. */
  readonly isFixed: boolean;
  /** Released text. */
  sent: string;
  /** Text that waits for a check. */
  waiting: string;
  /** Released text that the current check reads again, before the waiting text. */
  context: string;
}

export function createStreamTexts(): StreamTexts {
  const channels = new Map<string, Channel>();
  let checked: (readonly [string, Channel])[] = [];
  let waiting = 0;
  let hasCopies = false;

  function addTo(name: string, text: string, isFixed: boolean): void {
    const channel = channels.get(name);
    if (channel === undefined) channels.set(name, { isFixed, sent: '', waiting: text, context: '' });
    else channel.waiting += text;
    waiting += text.length;
  }

  return {
    append(channel, text, kind = 'editable') {
      if (text === '') return;
      if (kind === 'repeated' && channels.values().some((one) => one.sent + one.waiting === text)) {
        hasCopies = true;
        return;
      }
      const existing = channels.get(channel);
      // Texts of an unknown format may continue each other, or each be complete. They are checked in both ways: here
      // they are separated by line breaks, and in `channel` they are joined.
      if (kind === 'unknown' && existing !== undefined) {
        const separate = `${channel} apart`;
        const earlier = channels.has(separate) ? '' : existing.sent + existing.waiting;
        addTo(separate, `${earlier}\n${text}`, true);
      }
      addTo(channel, text, kind !== 'editable');
    },
    get waiting() {
      return waiting;
    },
    get hasCopies() {
      return hasCopies;
    },
    texts(isLast) {
      checked = [...channels].filter(([, one]) => isLast || one.waiting !== '');
      return checked.map(([, one]) => {
        one.context = isLast ? one.sent : one.sent.slice(-OVERLAP);
        return withoutEscapes(one.context + one.waiting);
      });
    },
    release(edited) {
      const next = new Map<string, string>();
      for (const [index, [name, one]] of checked.entries()) {
        const text = edited?.[index];
        const released = text === undefined ? one.waiting : editedWaiting(one, text);
        if (released === null) return null;
        next.set(name, released);
      }
      for (const [name, one] of checked) {
        one.sent += next.get(name) ?? '';
        one.waiting = '';
      }
      waiting = 0;
      return next;
    },
    released: () =>
      [...channels].map(([name, { isFixed, sent }]) => (isFixed || REASONING.test(name) ? '' : sent)).join(''),
  };
}

/** The waiting text of a channel after an edit; null when the edit cannot be made. */
function editedWaiting({ isFixed, context, waiting }: Channel, text: string): string | null {
  const whole = context + waiting;
  const readable = withoutEscapes(whole);
  if (text === readable) return waiting;
  const before = withoutEscapes(context);
  const keepsEscapes = readable === withSafeEscapes(whole);
  const keepsReleasedText = text.startsWith(before);
  return !isFixed && keepsEscapes && keepsReleasedText ? text.slice(before.length) : null;
}

/**
 * A piece of JSON text with decoded `\uXXXX` escapes, except those of characters that JSON must escape. The pattern
 * also matches all other escapes: otherwise the second backslash of `\\` could begin an escape.
 */
const withSafeEscapes = (text: string): string =>
  text.replaceAll(/\\(?:u([\da-f]{4})|[^])/gi, (escape, code: string | undefined) => {
    if (code === undefined) return escape;
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character < ' ' || character === '"' || character === '\\' ? escape : character;
  });

/**
 * Events as text, with edited texts. In each channel, the first text is replaced by the whole new text of the channel,
 * and the others become empty.
 */
export function withStreamTexts(events: readonly StreamEvent[], texts: ReadonlyMap<string, string>): readonly string[] {
  const written = new Set<string>();
  return events.map((event) =>
    event.withTexts((channel) => {
      const next = written.has(channel) ? '' : (texts.get(channel) ?? '');
      written.add(channel);
      return next;
    }),
  );
}
