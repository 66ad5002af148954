import { type ByteSink, type ByteStream, iterate } from '../../domain/bytes.ts';
import type { ChatDelta } from '../../domain/chat/chat.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { StreamSettings } from '../../domain/guardrails/guardrail.ts';
import { createEventReader, type StreamEvent } from '../../domain/guardrails/texts/stream-events.ts';
import { createStreamTexts, withStreamTexts } from '../../domain/guardrails/texts/stream-texts.ts';
import type { StreamTools } from './inspected-tools.ts';

/** Maximum characters of a stream that are buffered until they are checked. */
const MAX_BUFFERED_CHARACTERS = 64 * 1024 * 1024;
/** A due check waits for the next word boundary, but no longer than this multiple of the sampling rate. */
const MAX_WINDOW_FACTOR = 8;

/** Checks of the texts of a stream. */
interface TextChecks {
  /** Whether edited texts can be written into the stream. */
  readonly isEditable: boolean;
  /** The edited texts; null where none was edited. Rejects when the texts may not be sent. */
  check(texts: readonly string[], isLast: boolean): Promise<readonly string[] | null>;
  /** Error for an edit that cannot be applied. */
  refusal(where: string): Error;
  /** Called when the last texts may be sent. */
  passed?(): void;
  /** Whether a check is due that does not depend on texts. */
  isCheckDue?(): boolean;
}

/** The texts of a stream that were received since the last check. */
interface StreamWindow {
  append: ReturnType<typeof createStreamTexts>['append'];
  /**
   * Checks and releases the texts. Returns the edited texts by channel; null where none was edited. Rejects when they
   * may not be sent.
   */
  checked(isLast: boolean): Promise<ReadonlyMap<string, string> | null>;
  /** The text to record for an answer with the text `whole`: what was released of it, with its edits. */
  recordedText(whole: string): string;
}

/** Buffers the texts that were received since the last check, and checks them. */
export function createStreamWindow({ isEditable, check, refusal, passed, isCheckDue }: TextChecks): StreamWindow {
  const streamTexts = createStreamTexts();
  let isUnchanged = true;
  let isComplete = false;
  return {
    append: streamTexts.append,
    async checked(isLast) {
      const all = streamTexts.texts(isLast);
      const isTextDue = all.length > 0 && (isLast || streamTexts.waiting > 0);
      const edited = isTextDue || isCheckDue?.() === true ? await check(all, isLast) : null;
      if (edited !== null && (!isEditable || streamTexts.hasCopies)) throw refusal('in this stream');
      const released = streamTexts.release(edited);
      if (released === null) throw refusal('that is sent already or cannot be replaced');
      if (edited !== null) isUnchanged = false;
      isComplete = isLast;
      if (isLast) passed?.();
      return edited === null ? null : released;
    },
    recordedText: (whole) => (isUnchanged && isComplete ? whole : streamTexts.released()),
  };
}

/** A window and the settings that say when it is checked. */
interface StreamGuard {
  readonly settings: StreamSettings;
  readonly window: StreamWindow;
  /** Receives the tools that the stream calls; null or absent where no guardrail checks them. */
  readonly tools?: StreamTools | null;
}

interface GuardedBytes {
  readonly bytes: ByteStream;
  /** Resolves when the first bytes may be sent, or the stream has ended. Rejects when the stream fails before that. */
  readonly firstReleased: Promise<void>;
}

/** A stream of server-sent events whose bytes are buffered until their texts are checked. */
export function guardedBytes(source: ByteStream, guard: StreamGuard): GuardedBytes {
  const { window, settings } = guard;
  const { samplingRate, atEndOnly } = settings;
  const firstReleased = Promise.withResolvers<void>();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const ready: Uint8Array[] = [];
  let sink: ByteSink | null = null;
  /** Whether the sink takes no more bytes until `resume`. */
  let full = false;
  let ended: { readonly error: Error | null } | null = null;
  let cancelled = false;
  /** Resolves when the sink has taken all bytes of `ready`. */
  let drained = Promise.withResolvers<void>();

  function flush(): void {
    if (sink === null || cancelled) return;
    while (!full) {
      const next = ready.shift();
      if (next === undefined) break;
      full = !sink.chunk(next);
      // The sink may cancel inside of `chunk`.
      if (cancelled) return;
    }
    if (ready.length > 0) return;
    drained.resolve();
    if (ended === null) return;
    const endedSink = sink;
    sink = null;
    if (ended.error === null) endedSink.done();
    else endedSink.fail(ended.error);
  }

  async function release(events: StreamEvent[], isLast: boolean): Promise<void> {
    const texts = await window.checked(isLast);
    const buffered = events.splice(0);
    const text = (texts === null ? buffered.map(({ raw }) => raw) : withStreamTexts(buffered, texts)).join('');
    if (text !== '') ready.push(Buffer.from(text));
    if (isLast) ended = { error: null };
    firstReleased.resolve();
    drained = Promise.withResolvers();
    flush();
    if (!cancelled) await drained.promise;
  }

  async function run(): Promise<void> {
    const reader = createEventReader();
    const buffered: StreamEvent[] = [];
    let bufferedLength = 0;
    let chunks = 0;
    let before: Texts = [];
    const hold = (events: readonly StreamEvent[]): void => {
      for (const event of events) {
        for (const { channel, text, kind } of event.texts) window.append(channel, text, kind);
        if (guard.tools) for (const value of event.values()) guard.tools.add(value);
        bufferedLength += event.raw.length;
        buffered.push(event);
      }
    };
    for await (const chunk of iterate(source)) {
      const events = reader.read(decoder.decode(chunk, { stream: true }));
      const texts = events.flatMap((event) => event.texts);
      const isDue = !atEndOnly && chunks >= samplingRate && buffered.length > 0;
      if (isDue && (beginsWord(before, texts) || chunks >= samplingRate * MAX_WINDOW_FACTOR)) {
        await release(buffered, false);
        chunks = 0;
        bufferedLength = 0;
      }
      hold(events);
      if (texts.length > 0) before = texts.slice(-1);
      chunks += 1;
      if (bufferedLength + reader.open > MAX_BUFFERED_CHARACTERS)
        throw new Unavailable('The answer is too large to be checked.', null);
    }
    hold([...reader.read(decoder.decode()), ...reader.end()]);
    await release(buffered, true);
  }

  run().catch((failure: unknown) => {
    ended = { error: failure instanceof Error ? failure : new Error('The stream of the answer failed.') };
    firstReleased.reject(ended.error);
    flush();
  });
  return {
    firstReleased: firstReleased.promise,
    bytes: {
      pipe(target) {
        sink = target;
        flush();
      },
      resume() {
        full = false;
        flush();
      },
      cancel(failure) {
        cancelled = true;
        drained.resolve();
        source.cancel(failure);
      },
    },
  };
}

type Texts = readonly { readonly text: string }[];

/** Whether a word boundary separates the next texts from those before. */
const beginsWord = (before: Texts, next: Texts): boolean =>
  (next.length > 0 && next.every(({ text }) => /^(\s|$)/.test(text))) ||
  before.every(({ text }) => /(^|\s)$/.test(text));

/** Deltas of a stream, buffered until their texts are checked. */
export function guardedDeltas(
  source: AsyncIterableIterator<ChatDelta>,
  guard: StreamGuard,
): AsyncIterableIterator<ChatDelta> {
  const { window, settings } = guard;
  const { samplingRate, atEndOnly } = settings;
  const ready: ChatDelta[] = [];
  const buffered: ChatDelta[] = [];
  let hasEnded = false;

  async function release(isLast: boolean): Promise<void> {
    const texts = await window.checked(isLast);
    const deltas = buffered.splice(0);
    ready.push(...(texts === null ? deltas : withDeltaTexts(deltas, texts)));
  }

  /** Reads until deltas may be sent, or to the end. */
  async function fill(): Promise<void> {
    for (;;) {
      const step = await source.next();
      if (step.done === true) {
        hasEnded = true;
        return await release(true);
      }
      const { channel, text } = textOf(step.value);
      const isDue = !atEndOnly && buffered.length >= samplingRate;
      const isReleased =
        isDue &&
        (beginsWord(buffered.slice(-1).map(textOf), [{ text }]) || buffered.length >= samplingRate * MAX_WINDOW_FACTOR);
      if (isReleased) await release(false);
      window.append(channel, text);
      if (step.value.kind === 'toolCall' && step.value.name !== null) guard.tools?.addName(step.value.name);
      buffered.push(step.value);
      if (isReleased) return;
    }
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (ready.length === 0 && !hasEnded) {
        try {
          await fill();
        } catch (failure) {
          hasEnded = true;
          await source.return?.();
          throw failure;
        }
      }
      const value = ready.shift();
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    },
    async return() {
      hasEnded = true;
      ready.length = 0;
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

function textOf(delta: ChatDelta): { readonly channel: string; readonly text: string } {
  switch (delta.kind) {
    case 'text':
    case 'reasoning':
      return { channel: delta.kind, text: delta.text };
    case 'toolCall':
      return { channel: `call ${delta.index}`, text: delta.arguments };
    case 'finish':
    case 'usage':
    case 'failure':
      return { channel: delta.kind, text: '' };
  }
}

/** Deltas with replaced texts: the first delta of a channel has the new text, its later ones are empty. */
function withDeltaTexts(deltas: readonly ChatDelta[], texts: ReadonlyMap<string, string>): readonly ChatDelta[] {
  const written = new Set<string>();
  return deltas.map((delta) => {
    const { channel, text } = textOf(delta);
    if (text === '') return delta;
    const next = written.has(channel) ? '' : (texts.get(channel) ?? '');
    written.add(channel);
    if (delta.kind === 'toolCall') return { ...delta, arguments: next };
    return delta.kind === 'text' || delta.kind === 'reasoning' ? { ...delta, text: next } : delta;
  });
}
