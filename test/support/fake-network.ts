import type { Peer } from '../../src/runtime/http-client/address.ts';
import type { TimeSource } from '../../src/runtime/http-client/deadline-watch.ts';
import type { UpstreamSocket, SocketEvents } from '../../src/runtime/http-client/socket.ts';

/** Expected end of a call: the complete body, a fault of the HTTP client, or an action of the reader or the caller. */
export type Outcome = 'done' | 'cut' | 'garbled' | 'unreachable' | 'timeout' | 'cancelled' | 'aborted' | 'thrown';

/** Step of a scripted connection: bytes for its call, or the end of the connection. */
export interface ScriptStep {
  readonly bytes?: string;
  /** The bytes contain the response head. */
  readonly head?: true;
  /** Body in the bytes, without framing. */
  readonly body?: string;
  /** End of the call after this step, unless the reader ends the call earlier. */
  readonly outcome?: Outcome;
  /** The connection cannot be reused after this step. */
  readonly closes?: true;
  /** Event of the connection instead of bytes. */
  readonly event?: 'fin' | 'reset';
}

/** Clock that a test advances. */
export class FakeTime implements TimeSource {
  nowMs = 0;
  readonly #timers = new Map<() => void, { readonly everyMs: number; dueMs: number }>();

  /** Number of active timers. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.nowMs;
  }

  every(everyMs: number, run: () => void): () => void {
    this.#timers.set(run, { everyMs, dueMs: this.nowMs + everyMs });
    return () => this.#timers.delete(run);
  }

  advance(milliseconds: number): void {
    const endMs = this.nowMs + milliseconds;
    for (;;) {
      let next: [() => void, { readonly everyMs: number; dueMs: number }] | null = null;
      for (const timer of this.#timers) if (next === null || timer[1].dueMs < next[1].dueMs) next = timer;
      if (next === null || next[1].dueMs > endMs) break;
      this.nowMs = next[1].dueMs;
      next[1].dueMs += next[1].everyMs;
      next[0]();
    }
    this.nowMs = endMs;
  }
}

/** Socket without a network. A script supplies the data of its peer. */
export class FakeWire implements UpstreamSocket {
  readonly events: SocketEvents;
  readonly openedMs: number;
  readonly #written: (wire: FakeWire, id: number) => void;
  connected = false;
  destroyed = false;
  paused = false;
  unwritten = 0;
  /** Id of the call whose response is incomplete. Null without a call. */
  serving: number | null = null;
  script: ScriptStep[] = [];

  constructor(events: SocketEvents, openedMs: number, written: (wire: FakeWire, id: number) => void) {
    this.events = events;
    this.openedMs = openedMs;
    this.#written = written;
  }

  write(head: string): void {
    if (this.destroyed) throw new Error('A request was written to a destroyed connection.');
    if (this.serving !== null) throw new Error('A request was written before the answer of the last had ended.');
    const id = Number(/^POST \/(\d+) /.exec(head)?.[1]);
    this.serving = id;
    this.#written(this, id);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

type Random = (bound: number) => number;

/** Random response of the peer to a request, valid or invalid. */
export function scriptFor(id: number, random: Random): ScriptStep[] {
  const pieces = Array.from(
    { length: random(4) },
    (_, nth) => `<${id}.${nth}${'x'.repeat(random(3) === 0 ? 3_000 : 3)}>`,
  );
  const steps: ScriptStep[] = [];
  if (random(10) === 0) steps.push({ bytes: 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' });
  const closing = random(8) === 0 ? 'connection: close\r\n' : '';
  const closes = closing === '' ? {} : { closes: true as const };
  // 0: chunks. 1: a content length. 2: the end of the connection ends the body.
  const framing = random(3);
  if (framing === 0) {
    steps.push({ bytes: `HTTP/1.1 200 OK\r\n${closing}transfer-encoding: chunked\r\n\r\n`, head: true });
    for (const body of pieces) steps.push({ bytes: `${body.length.toString(16)}\r\n${body}\r\n`, body });
    steps.push({ bytes: '0\r\n\r\n', outcome: 'done', ...closes });
  } else if (framing === 1) {
    const length = pieces.join('').length;
    steps.push({
      bytes: `HTTP/1.1 200 OK\r\n${closing}content-length: ${length}\r\n\r\n`,
      head: true,
      ...(length === 0 ? { outcome: 'done', ...closes } : {}),
    });
    pieces.forEach((body, nth) =>
      steps.push({ bytes: body, body, ...(nth === pieces.length - 1 ? { outcome: 'done', ...closes } : {}) }),
    );
  } else {
    steps.push({ bytes: 'HTTP/1.1 200 OK\r\nx: y\r\n\r\n', head: true });
    for (const body of pieces) steps.push({ bytes: body, body });
    steps.push({ event: 'fin', outcome: 'done', closes: true });
  }
  const last = steps.length - 1;
  switch (random(12)) {
    case 0:
      return [...steps.slice(0, random(last + 1)), { event: 'reset', outcome: 'cut', closes: true }];
    case 1:
      // A body without a length ends with the connection, so truncation cannot be detected.
      if (framing === 2) return steps;
      return [...steps.slice(0, random(last + 1)), { event: 'fin', outcome: 'cut', closes: true }];
    case 2: {
      // After the head, only bytes between chunks can be invalid.
      const before = framing === 0 ? random(last + 1) : 0;
      return [...steps.slice(0, before), { bytes: 'not HTTP\r\n\r\n', outcome: 'garbled', closes: true }];
    }
    case 3:
      // The peer stops sending.
      return steps.slice(0, random(last + 1));
    case 4:
      // Bytes after the answer. A body without a length would contain them.
      return framing === 2
        ? steps
        : [...steps, { bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison', closes: true }];
    default:
      return steps;
  }
}

/** Opens fake wires and lists those that are not destroyed. */
export function fakeDial(time: FakeTime, written: (wire: FakeWire, id: number) => void) {
  const wires = new Set<FakeWire>();
  return {
    dial(_peer: Peer, events: SocketEvents): UpstreamSocket {
      const wire = new FakeWire(events, time.nowMs, written);
      wires.add(wire);
      return wire;
    },
    /** Wires that are not destroyed. */
    open(): FakeWire[] {
      for (const wire of wires) if (wire.destroyed) wires.delete(wire);
      return [...wires];
    },
  };
}
