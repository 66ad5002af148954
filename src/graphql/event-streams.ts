import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { STALL_TIMEOUT_MS } from '../../rest-shims/helpers/http/answer-writer.ts';
import { toPollable, type PollableStream } from '../domain/pollable-stream.ts';

/** How events are written in the body of one HTTP answer. */
interface Framing {
  readonly contentType: string;
  /** Sent before the first event: some browsers report an open stream only once bytes arrive. */
  readonly opening: string;
  /** Sent at an interval, so that proxies do not close an idle connection. */
  readonly heartbeat: string;
  eventOf(json: string): string;
  readonly end: string;
}

const PART = '\r\ncontent-type: application/json\r\n\r\n';
const BOUNDARY = '\r\n--graphql';

/** Server-sent events, as Yoga and graphql-sse (distinct connections mode) write them. */
export const SERVER_SENT_EVENTS: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  opening: ':\n\n',
  heartbeat: ':\n\n',
  eventOf: (json) => `event: next\ndata: ${json}\n\n`,
  end: 'event: complete\ndata:\n\n',
};

/**
 * Multipart HTTP of Apollo
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol). The boundary
 * follows each part immediately: clients parse a part when they read the next boundary.
 */
export const MULTIPART: Framing = {
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"',
  opening: BOUNDARY,
  heartbeat: `${PART}{}${BOUNDARY}`,
  eventOf: (json) => `${PART}{"payload":${json}}${BOUNDARY}`,
  end: '--\r\n',
};

/** Headers against caching, compression and buffering of the events by proxies. */
const HEAD = { 'cache-control': 'no-cache', 'content-encoding': 'none', 'x-accel-buffering': 'no' } as const;

const HEARTBEAT_MS = 12_000;

/** Writes the results of subscriptions, one subscription per HTTP answer. */
export interface EventStreams {
  /**
   * Answers with the results until they end or the client disconnects. The next result is read when the socket has
   * accepted the previous one: results for a slow client stay in their source.
   */
  write(response: ServerResponse, results: AsyncIterable<object>, framing: Framing): Promise<void>;
  /** Stops the heartbeats. */
  close(): void;
}

/** `jsonOf` returns the JSON of a result. */
export function createEventStreams(jsonOf: (result: object) => string): EventStreams {
  const writers = new Map<Framing, FramedWriter>();
  const open = new Map<ServerResponse, Framing>();
  // One timer for all streams.
  const heartbeat = setInterval(() => {
    for (const [response, framing] of open)
      if (response.socket?.writableNeedDrain !== true) response.write(framing.heartbeat);
  }, HEARTBEAT_MS).unref();

  function writerOf(framing: Framing): FramedWriter {
    const writer = writers.get(framing) ?? createFramedWriter((result) => framing.eventOf(jsonOf(result)));
    writers.set(framing, writer);
    return writer;
  }

  return {
    async write(response, results, framing) {
      const stream = toPollable(results);
      const stop = (): void => {
        open.delete(response);
        void stream.return();
      };
      response.once('close', stop);
      if (response.destroyed) return stop();
      response.writeHead(200, { ...HEAD, 'content-type': framing.contentType });
      response.write(framing.opening);
      open.set(response, framing);
      await writerOf(framing).writeAll(response, stream);
      open.delete(response);
      response.end(framing.end);
    },
    close: () => clearInterval(heartbeat),
  };
}

interface FramedWriter {
  /** Writes every result while the socket accepts them. Resolves at the end of the stream. */
  writeAll(response: ServerResponse, stream: PollableStream<object>): Promise<void>;
}

function createFramedWriter(textOf: (result: object) => string): FramedWriter {
  /** Bytes of results that several connections receive. */
  const frames = new WeakMap<object, Buffer>();

  /** The latest frame. Most events are written to all subscribers in a row, so this saves most look-ups in `frames`. */
  let latest: { readonly result: object; readonly frame: Buffer } | null = null;

  function frameOf(result: object): Buffer {
    if (latest?.result === result) return latest.frame;
    const frame = frames.get(result) ?? chunkOf(textOf(result));
    frames.set(result, frame);
    latest = { result, frame };
    return frame;
  }

  /** Callbacks instead of `await`: with a thousand subscribers, promises would be a tenth of the cost of an event. */
  function writeAll(response: ServerResponse, stream: PollableStream<object>): Promise<void> {
    return new Promise((resolve, reject) => {
      // Frames are written to the socket directly: Node creates three buffers for each chunk of an answer.
      let socket: Socket | null = null;
      /** Writes one result. Returns null, or a promise of the drain when the socket is full. */
      function writeOne(result: object): Promise<void> | null {
        socket ??= socketOf(response);
        if (socket !== null) return socket.write(frameOf(result)) ? null : drained(response, socket);
        return response.write(textOf(result)) ? null : drained(response);
      }
      /** Accepts a result that is sent to several subscribers. Returns false when the socket is full or has failed. */
      function take(result: object): boolean {
        try {
          const whenDrained = writeOne(result);
          if (whenDrained === null) return true;
          void whenDrained.then(writeNext);
        } catch (error) {
          fail(error);
        }
        return false;
      }
      function fail(error: unknown): void {
        reject(error instanceof Error ? error : new Error('An event stream failed.', { cause: error }));
      }
      function writeNext(): void {
        try {
          for (;;) {
            const step = stream.poll();
            if (step === null) return stream.whenReady(writeNext, take);
            if (step.done === true) return resolve();
            const whenDrained = writeOne(step.value);
            if (whenDrained !== null) return void whenDrained.then(writeNext);
          }
        } catch (error) {
          fail(error);
        }
      }
      writeNext();
    });
  }

  return { writeAll };
}

/**
 * The socket of a response, once the response has no buffered bytes that must precede a direct write: its
 * `writableLength` includes that of the socket.
 */
function socketOf({ chunkedEncoding, socket, writableLength }: ServerResponse): Socket | null {
  return socket !== null && chunkedEncoding && writableLength === socket.writableLength ? socket : null;
}

/** A chunk of the HTTP chunked transfer coding. */
function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/**
 * Resolves when a full stream has drained or is closed. Disconnects a client whose stream does not drain within
 * `STALL_TIMEOUT_MS`.
 */
export function drained(response: ServerResponse, stream: Writable = response): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => response.destroy(), STALL_TIMEOUT_MS).unref();
    const resume = (): void => {
      clearTimeout(stalled);
      stream.off('drain', resume).off('close', resume);
      resolve();
    };
    stream.once('drain', resume).once('close', resume);
  });
}
