import type { ByteSink, ByteStream } from '../../domain/bytes.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Maximum number of events that are delivered before other work of the process may run. */
const EVENTS_PER_TURN = 64;

/** Delivers a stored stream of server-sent events with one event in each chunk. */
export const replayedStream = (body: Uint8Array): ByteStream => new ReplayedStream(body);

class ReplayedStream implements ByteStream {
  readonly #body: Uint8Array;
  #sink: ByteSink | null = null;
  #at = 0;
  #isRunning = false;
  #isPaused = false;
  #isClosed = false;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#run();
  }

  resume(): void {
    this.#isPaused = false;
    this.#run();
  }

  cancel(): void {
    this.#isClosed = true;
  }

  #run(): void {
    const sink = this.#sink;
    // The sink may call `resume` inside of `chunk`.
    if (sink === null || this.#isRunning) return;
    this.#isRunning = true;
    for (let events = 0; events < EVENTS_PER_TURN && this.#mayDeliver(); events += 1) {
      const end = endOfEvent(this.#body, this.#at);
      const event = this.#body.subarray(this.#at, end);
      this.#at = end;
      this.#isPaused = !sink.chunk(event);
    }
    this.#isRunning = false;
    if (this.#mayDeliver()) setImmediate(() => this.#run());
    else if (!this.#isClosed && this.#at >= this.#body.length) {
      this.#isClosed = true;
      sink.done();
    }
  }

  #mayDeliver(): boolean {
    return !this.#isClosed && !this.#isPaused && this.#at < this.#body.length;
  }
}

/** Index after the blank line that ends the event at `from`. Without a blank line, the length of the body. */
function endOfEvent(body: Uint8Array, from: number): number {
  for (let at = body.indexOf(LINE_FEED, from); at >= 0; at = body.indexOf(LINE_FEED, at + 1)) {
    const next = body[at + 1] === CARRIAGE_RETURN ? at + 2 : at + 1;
    if (body[next] === LINE_FEED) return next + 1;
  }
  return body.length;
}
