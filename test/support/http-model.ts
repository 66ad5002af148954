import { HttpFailure, ReaderStalled, type UpstreamAnswer } from '../../src/domain/http.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { FakeTime, fakeDial, type FakeWire, type Outcome, scriptFor, type ScriptStep } from './fake-network.ts';
import { randomFrom } from './random.ts';

/** Connection limit of the modelled client. */
export const LIMIT = 6;
const SILENCE_MS = 5_000;
const STALL_MS = 3_000;
const CONNECT_MS = 10_000;
/** Interval between deadline checks, in ms. */
export const CHECK_MS = 250;
const OWNERS = ['a', 'b', 'c', ''];
const THROWN = new Error('The reader threw.');
const ABORTED = new Error('The caller left.');

/** State of a call in the reference model. */
interface Modelled {
  readonly id: number;
  readonly startedMs: number;
  /** Deadline for the response head, in ms from the start. */
  readonly headMs: number;
  readonly abortController: AbortController;
  answer: UpstreamAnswer | null;
  piped: boolean;
  paused: boolean;
  hasHead: boolean;
  /** Body that the peer has sent so far. */
  sent: string;
  /** Body that the reader has received so far. */
  got: string;
  /** Time of the last bytes that arrived, or of the last pause or resume of the reader. */
  progressMs: number;
  /** End that the bytes under delivery cause. It becomes `wireEnd` after their delivery. */
  ending: Outcome | null;
  /** End that the connection caused. */
  wireEnd: Outcome | null;
  /** End that the reader or the caller caused. It takes precedence over `wireEnd`. */
  readerEnd: Outcome | null;
  /** End that the promise of the call or its reader received. */
  reportedEnd: string | null;
}

/** The HTTP client over fake wires, with a model of the expected end of each call. */
export class ModelledClient {
  readonly random: (bound: number) => number;
  readonly time = new FakeTime();
  readonly network = fakeDial(this.time, (wire, id) => this.#written(wire, id));
  readonly http = createHttpClient({
    connections: LIMIT,
    silenceLimitMs: SILENCE_MS,
    stallLimitMs: STALL_MS,
    time: this.time,
    dial: this.network.dial,
  });
  /** Calls that have not ended. */
  readonly calls = new Map<number, Modelled>();
  /** Numbers of ended calls, by their end. */
  readonly ends = new Map<string, number>();
  #callCount = 0;
  /**
   * While true, readers cause no ends or pauses, no call is added and no connection is refused, so that the remaining
   * calls end. Scripts of the peer still contain faults.
   */
  calm = false;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  /** Starts a call. */
  make(): void {
    this.#callCount += 1;
    const call: Modelled = {
      id: this.#callCount,
      startedMs: this.time.nowMs,
      headMs: [400, 2_000, 20_000][this.random(3)] ?? 0,
      abortController: new AbortController(),
      answer: null,
      piped: false,
      paused: false,
      hasHead: false,
      sent: '',
      got: '',
      progressMs: this.time.nowMs,
      ending: null,
      wireEnd: null,
      readerEnd: null,
      reportedEnd: null,
    };
    this.calls.set(call.id, call);
    const options = {
      signal: call.abortController.signal,
      headersTimeoutMs: call.headMs,
      owner: OWNERS[this.random(OWNERS.length)] ?? '',
    };
    this.http.post(`http://model.test/${call.id}`, {}, Buffer.from('{}'), options).then(
      (answer) => {
        call.answer = answer;
        if (this.random(3) > 0) this.pipe(call);
      },
      (error: unknown) => this.#end(call, error),
    );
  }

  pipe(call: Modelled): void {
    if (call.piped || call.answer === null || this.#mayHaveExpired(call)) return;
    call.piped = true;
    call.answer.body.pipe({
      chunk: (bytes) => this.#chunk(call, Buffer.from(bytes).toString()),
      done: () => this.#end(call, 'done'),
      fail: (error) => this.#end(call, error),
    });
  }

  /** Whether the deadline of an unread call has passed. The client ends the call at its next deadline check. */
  #mayHaveExpired(call: Modelled): boolean {
    const ended = call.wireEnd !== null || call.readerEnd !== null;
    return !ended && call.hasHead && !call.piped && this.time.nowMs >= call.progressMs + SILENCE_MS;
  }

  #chunk(call: Modelled, text: string): boolean {
    if (call.reportedEnd !== null || call.readerEnd !== null)
      throw new Error(`Call ${call.id} got bytes after its end.`);
    call.got += text;
    if (!call.sent.startsWith(call.got))
      throw new Error(`Call ${call.id} got bytes of another: ${call.got.slice(-80)}`);
    if (this.calm) return true;
    switch (this.random(20)) {
      case 0:
        this.cancel(call);
        return this.random(2) === 0;
      case 1:
        this.abort(call);
        return true;
      case 2:
        call.readerEnd = 'thrown';
        throw THROWN;
      case 3:
        // Starts a call inside a callback.
        this.make();
        return true;
      case 4:
      case 5:
      case 6:
        call.paused = true;
        call.progressMs = this.time.nowMs;
        return false;
      default:
        return true;
    }
  }

  resume(call: Modelled): void {
    if (!call.paused) return;
    call.paused = false;
    call.progressMs = this.time.nowMs;
    call.answer?.body.resume();
  }

  cancel(call: Modelled): void {
    if (call.answer === null || call.reportedEnd !== null) return;
    // A reader that cancels gets no further event.
    call.readerEnd ??= 'cancelled';
    this.#settled(call, 'cancelled');
    call.answer.body.cancel();
  }

  abort(call: Modelled): void {
    if (this.#mayHaveExpired(call)) return;
    // A complete answer stays complete after an abort.
    if (call.wireEnd === null) call.readerEnd ??= 'aborted';
    call.abortController.abort(ABORTED);
  }

  #end(call: Modelled, end: unknown): void {
    const endName = outcomeOf(end);
    if (call.reportedEnd !== null) throw new Error(`Call ${call.id} ended with ${endName} after ${call.reportedEnd}.`);
    const wanted = call.readerEnd ?? call.wireEnd ?? call.ending;
    const isDeadline = call.wireEnd === null && this.#isDue(call, endName);
    if (endName !== wanted && !isDeadline)
      throw new Error(`Call ${call.id} ended with ${endName} (${String(end)}), expected ${String(wanted)}.`);
    if (endName === 'done' && call.got !== call.sent) throw new Error(`Call ${call.id} lost a part of its body.`);
    this.#settled(call, endName);
    if (!this.calm && this.random(10) === 0) this.make();
  }

  /** Whether a deadline with this outcome has passed. */
  #isDue(call: Modelled, endName: string): boolean {
    const { nowMs } = this.time;
    if (endName === 'stalled') return call.hasHead && nowMs >= call.progressMs + STALL_MS;
    if (endName !== 'timeout') return false;
    if (call.hasHead) return nowMs >= call.progressMs + SILENCE_MS;
    return nowMs >= call.startedMs + Math.min(call.headMs, CONNECT_MS);
  }

  #settled(call: Modelled, endName: string): void {
    call.reportedEnd = endName;
    this.calls.delete(call.id);
    this.ends.set(endName, (this.ends.get(endName) ?? 0) + 1);
  }

  #written(wire: FakeWire, id: number): void {
    const call = this.calls.get(id);
    if (call === undefined || call.wireEnd !== null || call.readerEnd !== null)
      throw new Error(`Call ${id} was written after its end.`);
    wire.script = scriptFor(id, this.random);
    // In some calls, a part of the request stays in the send buffer.
    wire.unwritten = this.random(15) === 0 ? 100 : 0;
  }

  /** Sends the next steps of a wire. Several steps may arrive in one read. */
  serve(wire: FakeWire): void {
    if (wire.destroyed || wire.paused || !wire.connected || wire.script.length === 0) return;
    const [first] = wire.script;
    if (first?.event !== undefined) return this.#happen(wire, wire.script.splice(0, 1));
    const eventAt = wire.script.findIndex(({ event }) => event !== undefined);
    // Bytes before the next event may arrive in one read.
    const stepsBeforeEvent = eventAt === -1 ? wire.script.length : eventAt;
    this.#happen(
      wire,
      wire.script.splice(0, this.random(3) === 0 ? stepsBeforeEvent : 1 + this.random(stepsBeforeEvent)),
    );
  }

  /** Delivers steps of a wire, and checks whether the client keeps or closes the connection. */
  #happen(wire: FakeWire, steps: readonly ScriptStep[]): void {
    const call = wire.serving === null ? undefined : this.calls.get(wire.serving);
    const hasUnwritten = wire.unwritten > 0;
    for (const { head, body } of steps) {
      if (call === undefined) continue;
      if (head) call.hasHead = true;
      call.sent += body ?? '';
      if (!call.paused) call.progressMs = this.time.nowMs;
    }
    const end = steps.find(({ outcome }) => outcome !== undefined)?.outcome ?? null;
    const [{ event } = {}] = steps;
    if (end !== null) wire.serving = null;
    if (call !== undefined) call.ending = end;
    if (event === 'fin') wire.events.ended();
    else if (event === 'reset') wire.events.failed(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    else wire.events.bytes(Buffer.from(steps.map(({ bytes }) => bytes).join('')));
    // An end that the reader caused in a callback takes precedence.
    if (call !== undefined && end !== null && call.reportedEnd === null && call.readerEnd === null) call.wireEnd = end;
    if (end === null && !steps.some(({ closes }) => closes)) return;
    const endedByReader = call?.readerEnd !== null && call?.readerEnd !== undefined;
    const closed = steps.some(({ closes }) => closes) || (end !== null && hasUnwritten) || endedByReader;
    if (closed && !wire.destroyed) throw new Error('A connection stayed open that cannot be reused.');
    if (!closed && end === 'done' && wire.destroyed) throw new Error('A connection was closed that can be reused.');
  }

  connect(wire: FakeWire): void {
    // A request is written before the connection opens, because connecting takes more than one turn.
    if (wire.connected || wire.destroyed || wire.serving === null) return;
    if (this.random(25) === 0 && !this.calm) {
      const call = this.calls.get(wire.serving);
      if (call !== undefined && call.readerEnd === null) call.wireEnd = 'unreachable';
      wire.script = [];
      return wire.events.failed(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
    }
    wire.connected = true;
    wire.events.connected();
  }

  /** Injects a fault into a connection without a written request. The fault must not affect any call. */
  disturb(wire: FakeWire): void {
    if (!wire.connected || wire.destroyed || wire.serving !== null) return;
    const kind = this.random(3);
    if (kind === 0) wire.events.bytes(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison'));
    else if (kind === 1) wire.events.ended();
    else wire.events.failed(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    if (!wire.destroyed) throw new Error('A disturbed connection stayed open.');
  }

  /** Compares the connections and calls of the client with the model. */
  check(): void {
    const open = this.network.open();
    const { active, idle, waiting } = this.http.connections();
    if (open.length > LIMIT) throw new Error(`There are ${open.length} connections.`);
    if (active + idle !== open.length)
      throw new Error(`The pool counts ${active} + ${idle} connections, and ${open.length} are open.`);
    // Calls wait only while their owner uses at least three times as many connections as are free.
    // At least as many are then active in total.
    if (waiting > 0 && active < 3 * (LIMIT - active)) throw new Error(`${waiting} calls wait beside ${active} in use.`);
    /** Calls that have not ended in the model. */
    let live = 0;
    /** Unread calls whose deadline has passed: the client may or may not have ended them. */
    let unsure = 0;
    for (const call of this.calls.values()) {
      if (call.wireEnd !== null || call.readerEnd !== null) continue;
      const dueMs = call.hasHead ? call.progressMs + Math.max(SILENCE_MS, STALL_MS) : call.startedMs + call.headMs;
      const lateMs = this.time.nowMs - dueMs;
      if (lateMs <= CHECK_MS) live += 1;
      else if (!call.hasHead || call.piped) throw new Error(`Call ${call.id} is ${lateMs} ms past its deadline.`);
      else call.wireEnd = 'timeout';
      if (this.#mayHaveExpired(call)) unsure += 1;
    }
    const carried = active + waiting;
    if (carried > live || carried < live - unsure)
      throw new Error(
        `The client has ${active} active and ${waiting} waiting calls, expected ${live - unsure} to ${live} in total.`,
      );
  }
}

function outcomeOf(end: unknown): string {
  if (end === 'done') return 'done';
  if (end === ABORTED) return 'aborted';
  if (end === THROWN) return 'thrown';
  if (end instanceof ReaderStalled) return 'stalled';
  return end instanceof HttpFailure ? end.fault : String(end);
}
