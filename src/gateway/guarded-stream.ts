import { type ByteSink, type ByteStream, iterate } from '../domain/bytes.ts';
import type { ChatDelta } from '../domain/chat/chat.ts';
import { Unavailable } from '../domain/errors.ts';
import type { StreamSettings } from '../domain/guardrails/guardrail.ts';
import { createStreamTexts } from '../domain/guardrails/texts/stream-texts.ts';

/** Most bytes of a stream that are held until they are checked. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;

/** Checks texts of an answer that is not complete yet. Rejects when they may not be sent. */
export type CheckTexts = (texts: readonly string[], isLast: boolean) => Promise<void>;

/** Characters before the new ones that are checked again, so that what lies across two checks is found. */
const OVERLAP = 4_000;

/** Texts for a check: at the end all of them, else the new part of each with some of what precedes it. */
function createTails(): (texts: readonly string[], isLast: boolean) => readonly string[] {
  let seen: readonly number[] = [];
  return (texts, isLast) => {
    const parts = texts.map((text, index) => text.slice(Math.max(0, (seen[index] ?? 0) - OVERLAP)));
    seen = texts.map(({ length }) => length);
    return isLast ? texts : parts;
  };
}

const LINE_END = 0x0a;

/** Takes the bytes after the last end of a line, which are not read yet. */
function openLine(held: Uint8Array[]): readonly Uint8Array[] {
  const last = held.findLastIndex((chunk) => chunk.includes(LINE_END));
  const chunk = held[last];
  if (chunk === undefined) return held.splice(0);
  const end = chunk.lastIndexOf(LINE_END) + 1;
  if (end === chunk.length) return held.splice(last + 1);
  const open = [chunk.subarray(end), ...held.splice(last + 1)];
  held[last] = chunk.subarray(0, end);
  return open;
}

interface GuardedBytes {
  readonly bytes: ByteStream;
  /** Resolves when the first bytes may be sent, or the stream has ended. Rejects when it fails before. */
  readonly begun: Promise<void>;
}

/** A stream whose bytes are held until their texts are checked. */
export function guardedBytes(source: ByteStream, settings: StreamSettings, check: CheckTexts): GuardedBytes {
  const begun = Promise.withResolvers<void>();
  const texts = createStreamTexts();
  const tails = createTails();
  const ready: Uint8Array[] = [];
  let sink: ByteSink | null = null;
  let full = false;
  let ended: { readonly error: Error | null } | null = null;
  let cancelled = false;
  let drained = Promise.withResolvers<void>();

  function flush(): void {
    if (sink === null || cancelled) return;
    while (!full) {
      const next = ready.shift();
      if (next === undefined) break;
      full = !sink.chunk(next);
    }
    if (ready.length > 0) return;
    drained.resolve();
    if (ended === null) return;
    const reader = sink;
    sink = null;
    if (ended.error === null) reader.done();
    else reader.fail(ended.error);
  }

  async function release(held: Uint8Array[]): Promise<void> {
    ready.push(...held.splice(0));
    begun.resolve();
    drained = Promise.withResolvers();
    flush();
    if (!cancelled) await drained.promise;
  }

  async function run(): Promise<void> {
    const held: Uint8Array[] = [];
    let heldBytes = 0;
    let checked = 0;
    const checkNew = async (isLast: boolean): Promise<void> => {
      if (!isLast && texts.length === checked) return;
      const all = texts.texts();
      checked = texts.length;
      if (all.length > 0) await check(tails(all, isLast), isLast);
    };
    for await (const chunk of iterate(source)) {
      held.push(chunk);
      heldBytes += chunk.length;
      texts.add(chunk);
      if (heldBytes > MOST_HELD_BYTES) throw new Unavailable('The answer is too large to be checked.', null);
      if (settings.atEndOnly || held.length < settings.samplingRate) continue;
      await checkNew(false);
      const open = openLine(held);
      if (held.length > 0) await release(held);
      held.push(...open);
      heldBytes = open.reduce((sum, { length }) => sum + length, 0);
    }
    await checkNew(true);
    ended = { error: null };
    await release(held);
  }

  run().catch((failure: unknown) => {
    const error = failure instanceof Error ? failure : new Error('The stream failed.');
    ended = { error };
    begun.reject(error);
    flush();
  });
  return {
    begun: begun.promise,
    bytes: {
      pipe(reader) {
        sink = reader;
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

/** Typed steps of a stream, held until their texts are checked. */
export function guardedDeltas(
  source: AsyncIterableIterator<ChatDelta>,
  settings: StreamSettings,
  check: CheckTexts,
): AsyncIterableIterator<ChatDelta> {
  const ready: ChatDelta[] = [];
  const channels = new Map<string, string>();
  const tails = createTails();
  let over = false;

  async function fill(): Promise<void> {
    const held: ChatDelta[] = [];
    let heard = false;
    while (!over && (settings.atEndOnly || held.length < settings.samplingRate)) {
      const step = await source.next();
      if (step.done === true) {
        over = true;
        break;
      }
      held.push(step.value);
      heard = hear(channels, step.value) || heard;
    }
    if ((heard || over) && channels.size > 0) await check(tails([...channels.values()], over), over);
    ready.push(...held);
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (ready.length === 0 && !over) {
        try {
          await fill();
        } catch (failure) {
          over = true;
          await source.return?.();
          throw failure;
        }
      }
      const value = ready.shift();
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    },
    async return() {
      over = true;
      ready.length = 0;
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

function hear(channels: Map<string, string>, delta: ChatDelta): boolean {
  const channel = delta.kind === 'toolCall' ? `call ${delta.index}` : delta.kind;
  const text = delta.kind === 'text' || delta.kind === 'reasoning' ? delta.text : argumentsOf(delta);
  if (text === '') return false;
  channels.set(channel, (channels.get(channel) ?? '') + text);
  return true;
}

const argumentsOf = (delta: ChatDelta): string => (delta.kind === 'toolCall' ? delta.arguments : '');
