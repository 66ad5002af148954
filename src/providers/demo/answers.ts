import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { eventOf } from '../../wire/sse/events.ts';
import { ChunkInspector } from '../../wire/chat-completions/inspector.ts';
import { wholeAnswer as nativeWholeAnswer } from '../../wire/chat-completions/native.ts';
import { relayedExchange, wholeExchange } from '../../wire/exchange.ts';
import { EventRelay } from '../../wire/sse/relay.ts';

const HEAD = { status: 200, headers: {} } as const;

/** Complete answer of the demo model. */
export function wholeAnswer(request: ModelRequest, value: object): Exchange {
  const { model, textLimit = 0 } = request;
  return wholeExchange(HEAD, nativeWholeAnswer(Buffer.from(JSON.stringify(value)), value, { model, textLimit }));
}

/** Streamed answer of the demo model. The last chunk must contain the usage. */
export async function streamedAnswer(request: ModelRequest, chunks: readonly object[]): Promise<Exchange> {
  const formatError = (): Error => new TypeError('The demo model wrote an invalid stream.');
  const events = [...chunks.map((chunk) => eventOf(JSON.stringify(chunk))), eventOf('[DONE]')];
  const inspector = new ChunkInspector({
    model: request.model,
    removeUsageChunk: !request.includeUsage,
    textLimit: request.textLimit ?? 0,
    upstreamError: formatError,
    formatError,
  });
  const relay = new EventRelay(streamOf(events), inspector, formatError);
  await relay.opened;
  return relayedExchange(HEAD, relay, inspector);
}

/** Words with the whitespace before them. Small pieces make streaming visible. */
export const piecesOf = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? [];

/** Stream that sends one event per event-loop turn, as an upstream does. */
function streamOf(events: readonly Buffer[]): ByteStream {
  let sink: ByteSink | null = null;
  let nextIndex = 0;
  let scheduled = false;
  let ended = false;
  const step = (): void => {
    scheduled = false;
    if (ended || sink === null) return;
    const event = events[nextIndex];
    if (event === undefined) {
      ended = true;
      sink.done();
      return;
    }
    nextIndex += 1;
    if (sink.chunk(event)) schedule();
  };
  const schedule = (): void => {
    if (scheduled || ended) return;
    scheduled = true;
    setImmediate(step);
  };
  return {
    pipe(reader) {
      sink = reader;
      schedule();
    },
    resume: schedule,
    cancel() {
      ended = true;
    },
  };
}
