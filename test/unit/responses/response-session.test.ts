import { describe, expect, it } from 'vitest';
import type { ByteSink } from '../../../src/domain/bytes.ts';
import type { SocketMessage } from '../../../src/domain/realtime/sockets.ts';
import { createResponseSessions } from '../../../src/gateway/create-response-sessions.ts';
import type { ResponseSessionLimits } from '../../../src/gateway/response-sessions.ts';
import { aSocket, settled } from '../../support/realtime-session.ts';

const LIMITS: ResponseSessionLimits = {
  pingMs: 30,
  goneMs: 75,
  stalledMs: 60,
  lifeMs: 1_000,
  running: 2,
  waiting: 2,
  waitingBytes: 100,
  sessions: 1,
};

const message = (text: string): SocketMessage => ({ bytes: Buffer.from(text), binary: false });
const words = (failure: unknown): string => (failure instanceof Error ? failure.message : 'bug');

/** A connection whose turns the test plays: `lane:name` asks for one, `!text` is answered at once. */
function aConnection(limits: Partial<ResponseSessionLimits> = {}) {
  const client = aSocket();
  let nowMs = 0;
  const sessions = createResponseSessions({ monotonicMs: () => nowMs }, { ...LIMITS, ...limits });
  const ended: unknown[] = [];
  /** What was begun, and how it ended. */
  const log: string[] = [];
  const turns = new Map<
    string,
    { answer(): void; refuse(failure: Error): void; sink: ByteSink | null; resumed: number }
  >();

  sessions.open().join({
    socket: client.socket,
    words: (failure) => message(`! ${words(failure)}`),
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
          return message(`${name}: ${words(failure)}`);
        },
        begin(signal) {
          log.push(`${name} begun`);
          return new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => {
              log.push(`${name} given up`);
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
                    resume: () => void (turn.resumed += 1),
                    cancel: () => void log.push(`${name} cancelled`),
                  },
                  lastWords: (failure) => message(`${name} broke: ${words(failure)}`),
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
    /** Lets the upstream of a turn begin to answer. */
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
      sessions.tend();
    },
  };
}

describe('turns', () => {
  it('of a lane are begun in order, of other lanes at once, but no more than may be', async () => {
    const house = aConnection({ waiting: 9 });
    house.ask('a:1', 'a:2', 'b:3', 'c:4');
    expect(house.log).toEqual(['1 begun', '3 begun']);
    const one = await house.answer('1');
    one.chunk(Buffer.from('one'));
    one.done();
    await settled();
    // The oldest that can be begun.
    expect(house.log).toEqual(['1 begun', '3 begun', '1 completed', '2 begun']);
    await house.refuse('3', new Error('no'));
    expect(house.log.at(-1)).toBe('4 begun');
    expect(house.client.did).toEqual(['one', '3: no']);
  });

  it('hold their client up when too many wait, or too much', async () => {
    const house = aConnection();
    house.ask('a:1', 'a:2', 'a:3');
    expect(house.client.did).toEqual([]);
    house.ask('a:4');
    expect(house.client.did).toEqual(['(pause)']);
    await house.refuse('1', new Error('no'));
    expect(house.client.did).toEqual(['(pause)', '1: no', '(resume)']);
    house.ask(`a:${'x'.repeat(100)}`);
    expect(house.client.did.at(-1)).toBe('(pause)');
  });

  it('are answered no faster than their client reads, and nothing new is read until it has', async () => {
    const house = aConnection();
    house.ask('a:1', 'b:2');
    const one = await house.answer('1');
    const two = await house.answer('2');
    expect(one.chunk(Buffer.from('x'))).toBe(true);
    house.client.state.full = true;
    expect(one.chunk(Buffer.from('y'))).toBe(false);
    expect(two.chunk(Buffer.from('z'))).toBe(false);
    expect(house.client.did).toEqual(['x', 'y', '(pause)', 'z']);
    house.client.state.full = false;
    house.client.told().drained();
    expect([house.resumed('1'), house.resumed('2')]).toEqual([1, 1]);
    expect(house.client.did.at(-1)).toBe('(resume)');
    expect(one.chunk(Buffer.from('more'))).toBe(true);
  });

  it('that break under way say so, and the lane goes on', async () => {
    const house = aConnection();
    house.ask('a:1', 'a:2');
    (await house.answer('1')).fail(new Error('cut'));
    await settled();
    expect(house.client.did).toEqual(['1 broke: cut']);
    expect(house.log).toEqual(['1 begun', '1 failed (cut)', '2 begun']);
  });

  it('are given up with their client, and it counts as gone when that is done', async () => {
    const house = aConnection({ waiting: 9 });
    house.ask('a:1', 'b:2', 'a:3');
    const one = await house.answer('1');
    const none = house.sessions.ended();
    house.client.told().ended({ kind: 'cut' });
    expect(house.ended).toEqual([]);
    expect(one.chunk(Buffer.from('late'))).toBe(false);
    await none;
    expect(house.log).toEqual(['1 begun', '2 begun', '1 abandoned', '1 cancelled', '1 given up', '2 given up']);
    expect(house.client.did).toEqual(['(close 1000)']);
    expect(house.ended).toEqual([null]);
    house.sessions.open().abandon();
  });

  it('whose answer comes when their client has gone are given up, too', async () => {
    const house = aConnection();
    house.ask('a:1');
    // The answer is there, and nobody has seen it yet.
    const answered = house.answer('1').catch(() => null);
    house.client.told().ended({ kind: 'closed', code: 1000, reason: '' });
    await answered;
    expect(house.log).toEqual(['1 begun', '1 given up', '1 cancelled', '1 abandoned']);
    expect(house.ended).toEqual([null]);
  });
});

describe('a connection', () => {
  it('that is silent is asked whether it is there, and counts as gone when it is not', async () => {
    const house = aConnection();
    house.ask('a:1');
    house.wait(31);
    expect(house.client.did).toEqual(['(ping)']);
    house.client.told().alive();
    house.wait(70);
    expect(house.client.did).toEqual(['(ping)', '(ping)']);
    house.wait(10);
    await settled();
    expect(house.client.did.at(-1)).toBe('(close 1001)');
    expect(house.log).toEqual(['1 begun', '1 given up']);
    expect(house.ended).toEqual([null]);
  });

  it('that takes nothing of what waits for it counts as gone', async () => {
    const house = aConnection();
    house.ask('a:1');
    const one = await house.answer('1');
    house.client.state.full = true;
    house.client.state.waiting = 10;
    one.chunk(Buffer.from('x'));
    house.wait(50);
    house.client.state.waiting = 5;
    house.wait(50);
    expect(house.ended).toEqual([]);
    house.wait(61);
    await settled();
    expect(house.log.slice(1, 3)).toEqual(['1 abandoned', '1 cancelled']);
    expect(house.ended).toEqual([null]);
  });

  it('that has lasted too long lets what is under way end, and says why it ends', async () => {
    const house = aConnection({ goneMs: 9_999, pingMs: 9_999 });
    const said = 'This connection has lasted 0 minutes, which is the most. Open another to go on.';
    house.ask('a:1', 'a:2');
    house.wait(1_001);
    expect(house.client.did).toEqual([`2: ${said}`]);
    house.ask('b:3', '!steer');
    const one = await house.answer('1');
    one.chunk(Buffer.from('one'));
    one.done();
    await settled();
    expect(house.client.did).toEqual([`2: ${said}`, `3: ${said}`, '!steer', 'one', `! ${said}`, '(close 1001)']);
    expect(house.ended).toEqual([null]);
  });

  it('that is too long idle ends without having been asked', () => {
    const house = aConnection({ goneMs: 9_999, pingMs: 9_999 });
    house.wait(1_001);
    expect(house.client.did.at(-1)).toBe('(close 1001)');
  });

  it.each([
    ['too large', '/responses: A message was larger than is taken.'],
    ['garbled', '/responses: The client sent what is no WebSocket message.'],
  ] as const)('whose client sends what is %s has failed', (kind, said) => {
    const house = aConnection();
    house.client.told().ended({ kind });
    expect(house.ended.map(words)).toEqual([said]);
  });

  it('whose turn has a bug ends with it', async () => {
    const house = aConnection();
    house.ask('a:1', 'b:bug');
    await house.refuse('bug', new Error('no'));
    expect(house.client.did).toEqual(['! oops', '(close 1011)']);
    expect(house.log).toEqual(['1 begun', 'bug begun', '1 given up', 'bug given up']);
    expect(house.ended.map(words)).toEqual(['oops']);
  });

  it('is one of so many and no more', () => {
    const house = aConnection();
    expect(() => house.sessions.open()).toThrow('Too many connections for responses are open. Try again later.');
    house.client.told().ended({ kind: 'cut' });
    house.sessions.open();
    expect(() => house.sessions.open()).toThrow();
  });
});

describe('when the process goes', () => {
  it('a connection without a turn ends, and one with turns when they have', async () => {
    const idle = aConnection();
    idle.sessions.retire();
    expect(idle.client.did).toEqual(['(close 1001)']);
    const house = aConnection();
    house.ask('a:1', 'a:2');
    house.sessions.retire();
    house.ask('b:3');
    const going = 'The process is shutting down.';
    expect(house.client.did).toEqual([`2: ${going}`, `3: ${going}`]);
    const none = house.sessions.ended();
    (await house.answer('1')).done();
    await none;
    expect(house.client.did.at(-1)).toBe('(close 1001)');
    expect(house.log).toEqual(['1 begun', '1 completed']);
  });

  it('a client that is joined then finds it closed', async () => {
    const house = aConnection({ sessions: 2 });
    const place = house.sessions.open();
    house.sessions.retire();
    const none = house.sessions.ended();
    const { socket, did } = aSocket();
    place.join({
      socket,
      read: () => ({ kind: 'answer', message: message('') }),
      words: () => message(''),
      ended() {},
    });
    await none;
    expect(did).toEqual(['(close 1001)']);
  });

  it('what is under way when it must is told, and failed', async () => {
    const house = aConnection();
    house.ask('a:1', 'b:2', 'b:3');
    await house.answer('1');
    const none = house.sessions.ended();
    house.sessions.endAll();
    await none;
    const going = 'The process is shutting down.';
    expect(house.client.did).toEqual([`3: ${going}`, `1 broke: ${going}`, `2: ${going}`, '(close 1001)']);
    expect(house.log).toEqual(['1 begun', '2 begun', `1 failed (${going})`, '1 cancelled', '1 given up', '2 given up']);
  });
});
