import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { STALLED_MS } from '../../rest-shims/http/answer-writer.ts';
import { promptly, type PromptStream } from '../domain/pollable-stream.ts';

/** What an event stream is answered with. */
const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'content-encoding': 'none',
  'x-accel-buffering': 'no',
} as const;

/** How often a stream is given a sign of life. */
const PULSE_MS = 12_000;
/** Some browsers take a stream for open only once something came; later it keeps those between us from hanging up. */
const PULSE = ':\n\n';
const END = 'event: complete\ndata:\n\n';

/** Writes the results of subscriptions, one to a connection, as graphql-sse and Yoga both frame them. */
export interface EventStreams {
  /**
   * Answers with the results until they end or the client leaves. The next is asked for when the socket has taken the
   * last: a client that does not read leaves them where they are.
   */
  write(response: ServerResponse, results: AsyncIterable<object>): Promise<void>;
  /** Stops the signs of life. */
  close(): void;
}

/** `jsonOf` gives the JSON of a result. */
export function createEventStreams(jsonOf: (result: object) => string): EventStreams {
  /** A result that several connections are given is made bytes for the first of them. */
  const frames = new WeakMap<object, Buffer>();
  const open = new Set<ServerResponse>();
  // One timer for all: a thousand streams need no thousand timers.
  const pulse = setInterval(() => {
    for (const response of open) if (response.socket?.writableNeedDrain !== true) response.write(PULSE);
  }, PULSE_MS).unref();

  const textOf = (result: object): string => `event: next\ndata: ${jsonOf(result)}\n\n`;

  /** The latest of them: most are given to all in a row. */
  let latest: { readonly result: object; readonly frame: Buffer } | null = null;

  function frameOf(result: object): Buffer {
    if (latest?.result === result) return latest.frame;
    const frame = frames.get(result) ?? chunkOf(textOf(result));
    frames.set(result, frame);
    latest = { result, frame };
    return frame;
  }

  /**
   * Gives what there is whenever there is something, for as long as the socket takes it; resolves at the end. Not a
   * loop that awaits: a thousand promises an event are a tenth of what it costs.
   */
  function giveAll(response: ServerResponse, stream: PromptStream<object>): Promise<void> {
    return new Promise((resolve, reject) => {
      // Node frames every write anew and makes three buffers of it: the same bytes for all go past it to the socket.
      let straight: Socket | null = null;
      /** Gives one to the client; a promise while its socket is full. */
      function giveOne(result: object): Promise<void> | null {
        straight ??= straightTo(response);
        if (straight !== null) return straight.write(frameOf(result)) ? null : drained(response, straight);
        return response.write(textOf(result)) ? null : drained(response);
      }
      /** What several are given at once goes to each of them here. */
      function take(result: object): boolean {
        try {
          const full = giveOne(result);
          if (full === null) return true;
          void full.then(give);
        } catch (error) {
          fail(error);
        }
        return false;
      }
      function fail(error: unknown): void {
        reject(error instanceof Error ? error : new Error('A stream of events broke off.', { cause: error }));
      }
      function give(): void {
        try {
          for (;;) {
            const step = stream.poll();
            if (step === null) return stream.whenReady(give, take);
            if (step.done === true) return resolve();
            const full = giveOne(step.value);
            if (full !== null) return void full.then(give);
          }
        } catch (error) {
          fail(error);
        }
      }
      give();
    });
  }

  return {
    async write(response, results) {
      const stream = promptly(results);
      const leave = (): void => {
        open.delete(response);
        void stream.return();
      };
      response.once('close', leave);
      if (response.destroyed) return leave();
      response.writeHead(200, HEAD);
      response.write(PULSE);
      open.add(response);
      await giveAll(response, stream);
      open.delete(response);
      response.end(END);
    },
    close: () => clearInterval(pulse),
  };
}

/** The socket of a response, once nothing waits in the response that stands before what is written to it. */
function straightTo({ chunkedEncoding, socket, writableLength }: ServerResponse): Socket | null {
  return socket !== null && chunkedEncoding && writableLength === socket.writableLength ? socket : null;
}

/** A chunk of HTTP's chunked coding. */
function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/** Resolves when a full stream takes more, or never will; a client that has not read for long is taken for gone. */
export function drained(response: ServerResponse, stream: Writable = response): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => response.destroy(), STALLED_MS).unref();
    const go = (): void => {
      clearTimeout(stalled);
      stream.off('drain', go).off('close', go);
      resolve();
    };
    stream.once('drain', go).once('close', go);
  });
}
