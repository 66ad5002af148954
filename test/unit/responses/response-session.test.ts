import { describe, expect, it } from 'vitest';
import type { ByteSink } from '../../../src/domain/bytes.ts';
import type { SocketMessage } from '../../../src/domain/realtime/sockets.ts';
import { createResponseSessions } from '../../../src/gateway/sessions/create-response-sessions.ts';
import type { ResponseSessionLimits } from '../../../src/gateway/sessions/response-sessions.ts';
import { aSocket, settled } from '../../support/realtime-session.ts';

const LIMITS: ResponseSessionLimits = {
  pingMs: 30,
  heartbeatTimeoutMs: 75,
  stalledMs: 60,
  lifeMs: 1_000,
  running: 2,
  waiting: 2,
  waitingBytes: 100,
  sessions: 1,
};

const message = (text: string): SocketMessage => ({ bytes: Buffer.from(text), binary: false });
const textOf = (failure: unknown): string => (failure instanceof Error ? failure.message : 'bug');

/**
 * A connection with turns that the test controls. `lane:name` requests a turn, and `!text` is answered immediately. A
 * refusal of the turn `bug` throws an internal error.
 */
function aConnection(limits: Partial<ResponseSessionLimits> = {}) {
  const client = aSocket();
  let nowMs = 0;
  const sessions = createResponseSessions({ monotonicMs: () => nowMs }, { ...LIMITS, ...limits });
  const ended: unknown[] = [];
  /** Starts and ends of turns. */
  const log: string[] = [];
  const turns = new Map<
    string,
    { answer(): void; refuse(failure: Error): void; sink: ByteSink | null; resumed: number }
  >();

  sessions.open().join({
    socket: client.socket,
    errorEvent: (failure) => message(`! ${textOf(failure)}`),
    ended: (failure) => void ended.push(failure),
    read({ bytes }) {
      const text = Buffer.from(bytes).toString();
      if (text.startsWith('!')) return { kind: 'answer', message: message(text) };
      const [lane = '', name = ''] = text.split(':');
      return {
        kind: 'turn',
        lane,
        size: bytes.length,
        refused(failure) {
          if (name === 'bug') throw new TypeError('oops');
          return message(`${name}: ${textOf(failure)}`);
        },
        begin(signal) {
          log.push(`${name} begun`);
          return new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => {
              log.push(`${name} aborted`);
              reject(signal.reason as Error);
            });
            const turn = {
              sink: null as ByteSink | null,
              resumed: 0,
              refuse: reject,
              answer: () =>
                resolve({
                  messages: {
                    pipe(sink) {
                      turn.sink = sink;
                    },
                    resume() {
                      turn.resumed += 1;
                    },
                    cancel: () => void log.push(`${name} cancelled`),
                  },
                  failureEvent: (failure) => message(`${name} error: ${textOf(failure)}`),
                  ended: (end, failure) => void log.push(`${name} ${end}${failure ? ` (${failure.message})` : ''}`),
                }),
            };
            turns.set(name, turn);
          });
        },
      };
    },
  });

  const turnOf = (name: string) => {
    const turn = turns.get(name);
    if (turn === undefined) throw new Error(`${name} was not begun.`);
    return turn;
  };
  return {
    client,
    sessions,
    ended,
    log,
    ask: (...texts: string[]) => texts.forEach((text) => client.say(text)),
    /** Starts the upstream answer of a turn. */
    async answer(name: string): Promise<ByteSink> {
      turnOf(name).answer();
      await settled();
      const { sink } = turnOf(name);
      if (sink === null) throw new Error(`${name} is not read.`);
      return sink;
    },
    async refuse(name: string, failure: Error): Promise<void> {
      turnOf(name).refuse(failure);
      await settled();
    },
    resumed: (name: string) => turnOf(name).resumed,
    wait(ms: number) {
      nowMs += ms;
      sessions.runChecks();
    },
  };
}

describe('turns', () => {
  it('run in order within a lane and in parallel across lanes, up to the limit', async () => {
    const setup = aConnection({ waiting: 9 });
    setup.ask('a:1', 'a:2', 'b:3', 'c:4');
    expect(setup.log).toEqual(['1 begun', '3 begun']);
    const sink1 = await setup.answer('1');
    sink1.chunk(Buffer.from('one'));
    sink1.done();
    await settled();
    // The oldest waiting turn of a free lane begins.
    expect(setup.log).toEqual(['1 begun', '3 begun', '1 completed', '2 begun']);
    await setup.refuse('3', new Error('no'));
    expect(setup.log.at(-1)).toBe('4 begun');
    expect(setup.client.calls).toEqual(['one', '3: no']);
  });

  it('pause reading from their client when too many turns wait, or too large ones', async () => {
    const setup = aConnection();
    setup.ask('a:1', 'a:2', 'a:3');
    expect(setup.client.calls).toEqual([]);
    setup.ask('a:4');
    expect(setup.client.calls).toEqual(['(pause)']);
    await setup.refuse('1', new Error('no'));
    expect(setup.client.calls).toEqual(['(pause)', '1: no', '(resume)']);
    await setup.refuse('2', new Error('no'));
    // Two turns wait, which is not too many, but they have more than 100 bytes.
    setup.ask(`a:${'x'.repeat(100)}`);
    expect(setup.client.calls.at(-1)).toBe('(pause)');
  });

  it('are answered at the speed of their client, and no new requests are read meanwhile', async () => {
    const setup = aConnection();
    setup.ask('a:1', 'b:2');
    const sink1 = await setup.answer('1');
    const sink2 = await setup.answer('2');
    expect(sink1.chunk(Buffer.from('x'))).toBe(true);
    setup.client.state.full = true;
    expect(sink1.chunk(Buffer.from('y'))).toBe(false);
    expect(sink2.chunk(Buffer.from('z'))).toBe(false);
    expect(setup.client.calls).toEqual(['x', 'y', '(pause)', 'z']);
    setup.client.state.full = false;
    setup.client.currentListener().drained();
    expect([setup.resumed('1'), setup.resumed('2')]).toEqual([1, 1]);
    expect(setup.client.calls.at(-1)).toBe('(resume)');
    expect(sink1.chunk(Buffer.from('more'))).toBe(true);
  });

  it('that fail during the stream report the failure, and the lane continues', async () => {
    const setup = aConnection();
    setup.ask('a:1', 'a:2');
    (await setup.answer('1')).fail(new Error('cut'));
    await settled();
    expect(setup.client.calls).toEqual(['1 error: cut']);
    expect(setup.log).toEqual(['1 begun', '1 failed (cut)', '2 begun']);
  });

  it('are cancelled when their client disconnects', async () => {
    const setup = aConnection({ waiting: 9 });
    setup.ask('a:1', 'b:2', 'a:3');
    const sink1 = await setup.answer('1');
    const allEnded = setup.sessions.ended();
    setup.client.currentListener().ended({ kind: 'cut' });
    expect(setup.ended).toEqual([]);
    expect(sink1.chunk(Buffer.from('late'))).toBe(false);
    await allEnded;
    expect(setup.log).toEqual(['1 begun', '2 begun', '1 abandoned', '1 cancelled', '1 aborted', '2 aborted']);
    expect(setup.client.calls).toEqual(['(close 1000)']);
    expect(setup.ended).toEqual([null]);
    setup.sessions.open().abandon();
  });

  it('whose answer arrives after their client has disconnected are also abandoned', async () => {
    const setup = aConnection();
    setup.ask('a:1');
    // The answer has arrived, but is not delivered yet.
    const answered = setup.answer('1').catch(() => null);
    setup.client.currentListener().ended({ kind: 'closed', code: 1000, reason: '' });
    await answered;
    expect(setup.log).toEqual(['1 begun', '1 aborted', '1 cancelled', '1 abandoned']);
    expect(setup.ended).toEqual([null]);
  });
});

describe('a connection', () => {
  it('that sends nothing gets a ping, and counts as disconnected without an answer', async () => {
    const setup = aConnection();
    setup.ask('a:1');
    setup.wait(31);
    expect(setup.client.calls).toEqual(['(ping)']);
    setup.client.currentListener().alive();
    setup.wait(70);
    expect(setup.client.calls).toEqual(['(ping)', '(ping)']);
    setup.wait(10);
    await settled();
    expect(setup.client.calls.at(-1)).toBe('(close 1001)');
    expect(setup.log).toEqual(['1 begun', '1 aborted']);
    expect(setup.ended).toEqual([null]);
  });

  it('that reads none of its pending messages counts as disconnected', async () => {
    const setup = aConnection();
    setup.ask('a:1');
    const sink1 = await setup.answer('1');
    setup.client.state.full = true;
    setup.client.state.waiting = 10;
    sink1.chunk(Buffer.from('x'));
    setup.wait(50);
    setup.client.state.waiting = 5;
    setup.wait(50);
    expect(setup.ended).toEqual([]);
    setup.wait(61);
    await settled();
    expect(setup.log.slice(1, 3)).toEqual(['1 abandoned', '1 cancelled']);
    expect(setup.ended).toEqual([null]);
  });

  it('at its maximum duration lets running turns end, and closes with the reason', async () => {
    const setup = aConnection({ heartbeatTimeoutMs: 9_999, pingMs: 9_999 });
    // `lifeMs` is one second, which is rounded to 0 minutes.
    const reason = 'This connection reached its maximum duration of 0 minutes. Open a new connection to continue.';
    setup.ask('a:1', 'a:2');
    setup.wait(1_001);
    expect(setup.client.calls).toEqual([`2: ${reason}`]);
    setup.ask('b:3', '!steer');
    const sink1 = await setup.answer('1');
    sink1.chunk(Buffer.from('one'));
    sink1.done();
    await settled();
    expect(setup.client.calls).toEqual([
      `2: ${reason}`,
      `3: ${reason}`,
      '!steer',
      'one',
      `! ${reason}`,
      '(close 1001)',
    ]);
    expect(setup.ended).toEqual([null]);
  });

  it('at its maximum duration without turns closes immediately', () => {
    const setup = aConnection({ heartbeatTimeoutMs: 9_999, pingMs: 9_999 });
    setup.wait(1_001);
    expect(setup.client.calls.at(-1)).toBe('(close 1001)');
  });

  it.each([
    ['too large', '/responses: A message exceeds the size limit.'],
    ['garbled', '/responses: The client sent an invalid WebSocket frame.'],
  ] as const)('fails when its client sends data that is %s', (kind, reason) => {
    const setup = aConnection();
    setup.client.currentListener().ended({ kind });
    expect(setup.ended.map(textOf)).toEqual([reason]);
  });

  it('ends with an internal error of its turn', async () => {
    const setup = aConnection();
    setup.ask('a:1', 'b:bug');
    await setup.refuse('bug', new Error('no'));
    expect(setup.client.calls).toEqual(['! oops', '(close 1011)']);
    expect(setup.log).toEqual(['1 begun', 'bug begun', '1 aborted', 'bug aborted']);
    expect(setup.ended.map(textOf)).toEqual(['oops']);
  });

  it('is refused above the limit of connections', () => {
    const setup = aConnection();
    expect(() => setup.sessions.open()).toThrow('Too many connections for responses are open. Try again later.');
    setup.client.currentListener().ended({ kind: 'cut' });
    setup.sessions.open();
    expect(() => setup.sessions.open()).toThrow();
  });
});

describe('at shutdown', () => {
  it('a connection without turns ends immediately, and a connection with turns ends after its turns', async () => {
    const idle = aConnection();
    idle.sessions.retire();
    expect(idle.client.calls).toEqual(['(close 1001)']);
    const setup = aConnection();
    setup.ask('a:1', 'a:2');
    setup.sessions.retire();
    setup.ask('b:3');
    const shutdownReason = 'The process is shutting down.';
    expect(setup.client.calls).toEqual([`2: ${shutdownReason}`, `3: ${shutdownReason}`]);
    const allEnded = setup.sessions.ended();
    (await setup.answer('1')).done();
    await allEnded;
    expect(setup.client.calls.at(-1)).toBe('(close 1001)');
    expect(setup.log).toEqual(['1 begun', '1 completed']);
  });

  it('a client that joins afterwards is disconnected', async () => {
    const setup = aConnection({ sessions: 2 });
    const place = setup.sessions.open();
    setup.sessions.retire();
    const allEnded = setup.sessions.ended();
    const { socket, calls } = aSocket();
    place.join({
      socket,
      read: () => ({ kind: 'answer', message: message('') }),
      errorEvent: () => message(''),
      ended() {},
    });
    await allEnded;
    expect(calls).toEqual(['(close 1001)']);
  });

  it('turns get an error at the deadline, and those with an answer are recorded as failed', async () => {
    const setup = aConnection();
    setup.ask('a:1', 'b:2', 'b:3');
    await setup.answer('1');
    const allEnded = setup.sessions.ended();
    setup.sessions.endAll();
    await allEnded;
    const shutdownReason = 'The process is shutting down.';
    expect(setup.client.calls).toEqual([
      `3: ${shutdownReason}`,
      `1 error: ${shutdownReason}`,
      `2: ${shutdownReason}`,
      '(close 1001)',
    ]);
    expect(setup.log).toEqual([
      '1 begun',
      '2 begun',
      `1 failed (${shutdownReason})`,
      '1 cancelled',
      '1 aborted',
      '2 aborted',
    ]);
  });
});
