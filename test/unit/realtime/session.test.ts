import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { Unauthenticated, Unavailable, UpstreamFailed } from '../../../src/domain/errors.ts';
import { type Usd, usdFrom } from '../../../src/domain/money.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../../../src/domain/realtime/realtime.ts';
import type { OpenSocket, SocketListener, SocketMessage } from '../../../src/domain/realtime/sockets.ts';
import { createLedger } from '../../../src/gateway/admit.ts';
import { createRealtime } from '../../../src/gateway/create-realtime.ts';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import { watchHealth } from '../../../src/gateway/health.ts';
import type { RealtimeLimits } from '../../../src/gateway/realtime.ts';
import { createRouter } from '../../../src/gateway/route.ts';
import { aCaller, aDeployment, aKey } from '../../support/chat.ts';

const usd = (amount: string): Usd => usdFrom(amount) ?? (0n as Usd);
const NEVER = new AbortController().signal;
const REQUEST: RealtimeRequest = { model: 'm', intent: null, headers: {}, callId: null, parent: null };
const LIMITS: RealtimeLimits = {
  pingMs: 30,
  goneMs: 75,
  stalledMs: 60,
  idleMs: 1_000,
  lifeMs: 5_000,
  recheckMs: 200,
  refusals: 2,
  sessions: 2,
};

const message = (text: string): SocketMessage => ({ bytes: Buffer.from(text), binary: false });

/** A socket whose other side the test plays; keeps what is done with it. */
function aSocket() {
  const did: string[] = [];
  let listener: SocketListener | null = null;
  const state = { waiting: 0, full: false };
  const socket: OpenSocket = {
    listen(told) {
      listener = told;
    },
    send({ bytes }) {
      did.push(Buffer.from(bytes).toString());
      return !state.full;
    },
    waiting: () => state.waiting,
    ping: () => void did.push('(ping)'),
    pause: () => void did.push('(pause)'),
    resume: () => void did.push('(resume)'),
    close: (code, reason) => void did.push(`(close ${code}${reason && ` ${reason}`})`),
  };
  const told = (): SocketListener => {
    if (listener === null) throw new Error('Nobody listens.');
    return listener;
  };
  return { socket, did, state, told, say: (text: string) => told().message(message(text)) };
}

/** A session between two sockets the test plays, with a clock it moves. */
async function aSession(
  differing: {
    caller?: Caller;
    identify?: () => Caller | Promise<Caller>;
    open?: (upstream: RealtimeUpstream, signal: AbortSignal) => Promise<RealtimeUpstream>;
  } = {},
) {
  const client = aSocket();
  const vendor = aSocket();
  const records: CallRecord[] = [];
  let nowMs = 0;
  let ids = 0;
  const upstream: RealtimeUpstream = {
    socket: vendor.socket,
    outbound(sent, assertMayCall) {
      const text = Buffer.from(sent.bytes).toString();
      if (text.startsWith('name ')) assertMayCall(text.slice(5));
      if (text === 'bug') throw new TypeError('oops');
      return sent;
    },
    inbound: (came) => ({
      message: came,
      news: Buffer.from(came.bytes).toString() === 'used' ? { kind: 'used', by: 'session', usage: USAGE } : null,
    }),
    showable: (reason) => reason,
    failureOf: (end) => new UpstreamFailed(end.kind, { provider: 'openai', upstreamStatus: null }),
  };
  const ledger = createLedger({ totalOf: async () => usd('0') });
  const realtime = createRealtime(
    {
      routeOf: createRouter(
        [aDeployment()],
        [
          {
            name: 'openai',
            send: () => Promise.reject(new Error()),
            openRealtime: (_deployment, _request, signal) =>
              differing.open?.(upstream, signal) ?? Promise.resolve(upstream),
          },
        ],
      ),
      ledger,
      tools: {
        health: watchHealth({ now: () => new Date(0), monotonicMs: () => nowMs }),
        recorder: { record: (call) => void records.push(call) },
        clock: { now: () => new Date(0), monotonicMs: () => nowMs },
        ids: { uuid: () => `uuid-${(ids += 1)}`, traceId: () => '1'.repeat(32), spanId: () => '2'.repeat(16) },
        capturePrompts: true,
        price: () => usd('1'),
        charge: (caller, cost) => ledger.add(caller.keyHash, cost),
      },
    },
    LIMITS,
  );
  const { caller = aCaller() } = differing;
  const { identify = () => caller } = differing;
  const open = () => realtime.open(caller, REQUEST, { signal: NEVER, identify });
  const session = await open();
  const ended: unknown[] = [];
  session.relay({
    socket: client.socket,
    words: (failure) => message(failure instanceof Error ? failure.message : 'bug'),
    ended: (failure) => void ended.push(failure),
  });
  return {
    client,
    vendor,
    realtime,
    ended,
    open,
    ends: () => records.map(({ spend }) => [spend.status, spend.error?.code ?? null]),
    /** Lets the time go by, with a look at the sessions on the way. */
    wait(ms: number) {
      nowMs += ms;
      realtime.tend();
    },
  };
}

const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
/** Everything that was begun by then. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a side that reads too slowly', () => {
  it.each([
    ['the caller', 'client', 'vendor'],
    ['the upstream', 'vendor', 'client'],
  ] as const)('holds the other back until it has caught up: %s', async (_who, slow, fast) => {
    const house = await aSession();
    house[slow].state.full = true;
    house[fast].say('one');
    house[fast].say('two');
    expect(house[fast].did).toEqual(['(pause)']);
    house[slow].state.full = false;
    house[slow].told().drained();
    expect([house[fast].did, house[slow].did]).toEqual([
      ['(pause)', '(resume)'],
      ['one', 'two'],
    ]);
  });

  it('counts as gone when nothing of what waits for it goes out', async () => {
    const { client, vendor, wait, ends } = await aSession();
    client.state.full = true;
    client.state.waiting = 100;
    vendor.say('one');
    wait(50);
    client.told().alive();
    client.state.waiting = 99;
    wait(50);
    client.told().alive();
    wait(60);
    expect(ends()).toEqual([]);
    wait(1);
    expect(ends()).toEqual([['failure', 'CLIENT_GONE']]);
    expect(vendor.did.at(-1)).toBe('(close 1000)');
  });

  it('is not asked whether it is there while nobody reads what it says', async () => {
    const { client, vendor, wait, ends } = await aSession();
    client.state.full = true;
    client.state.waiting = 1_000;
    vendor.say('one');
    for (let looks = 0; looks < 10; looks += 1) {
      client.state.waiting -= 10;
      client.told().alive();
      wait(30);
    }
    expect([ends(), vendor.did]).toEqual([[], ['(pause)']]);
  });
});

describe('a side that is silent', () => {
  it('is asked whether it is there, and stays when it answers', async () => {
    const { client, vendor, wait, ends } = await aSession();
    for (let looks = 0; looks < 4; looks += 1) {
      wait(31);
      client.told().alive();
      vendor.told().alive();
    }
    expect([client.did, vendor.did, ends()]).toEqual([Array(4).fill('(ping)'), Array(4).fill('(ping)'), []]);
  });

  it.each([
    ['the caller', 'vendor', ['failure', 'CLIENT_GONE']],
    ['the upstream', 'client', ['failure', 'UPSTREAM_FAILED']],
  ] as const)('counts as gone when it does not answer: %s', async (_who, alive, end) => {
    const house = await aSession();
    for (let looks = 0; looks < 3; looks += 1) {
      house.wait(25);
      house[alive].told().alive();
    }
    expect(house.ends()).toEqual([]);
    house.wait(1);
    expect(house.ends()).toEqual([end]);
    expect(house.client.did.at(-1)).toMatch(/^\(close (1001|1011)\)$/);
    expect(house.vendor.did.at(-1)).toBe('(close 1000)');
  });
});

/** Keeps both sides alive for a while. */
function keepAlive(house: Awaited<ReturnType<typeof aSession>>, ms: number): void {
  for (let gone = 0; gone < ms; gone += 20) {
    house.client.told().alive();
    house.vendor.told().alive();
    house.wait(20);
  }
}

describe('a session', () => {
  it('in which nothing is said for long is ended well, and told why', async () => {
    const house = await aSession();
    keepAlive(house, 900);
    house.client.say('still here');
    keepAlive(house, 1_000);
    expect(house.ends()).toEqual([]);
    keepAlive(house, 20);
    expect(house.ends()).toEqual([['success', null]]);
    expect(house.client.did.slice(-2)).toEqual(['/realtime: Nothing was said for 0 minutes.', '(close 1001)']);
    expect(house.ended).toHaveLength(1);
  });

  it('does not last longer than it may, however much is said', async () => {
    const house = await aSession();
    while (house.ends().length === 0) {
      house.client.say('on and on');
      house.vendor.told().alive();
      house.wait(20);
    }
    expect(house.ends()).toEqual([['success', null]]);
    expect(house.client.did.at(-1)).toBe('(close 1001)');
    expect(house.vendor.did.filter((did) => did === 'on and on')).toHaveLength(251);
  });

  it('ends when its key no longer holds, and not because that cannot be looked up', async () => {
    const answers: (Caller | Error)[] = [
      aCaller(),
      new Unavailable('no store'),
      new Unauthenticated('gone', 'blocked'),
    ];
    const identify = async (): Promise<Caller> => {
      const answer = answers.shift() ?? new Error('asked too often');
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const house = await aSession({ identify });
    for (const left of [2, 1]) {
      keepAlive(house, 220);
      await settled();
      expect([answers.length, house.ends()]).toEqual([left, []]);
    }
    keepAlive(house, 220);
    await settled();
    expect(house.ends()).toEqual([['failure', 'UNAUTHENTICATED']]);
    expect(house.client.did.slice(-2)).toEqual(['gone', '(close 1008)']);
  });

  it('ends when its key may no longer call the model, or names what it may not too often', async () => {
    const house = await aSession({ identify: () => aCaller(aKey({ models: ['another'] })) });
    house.client.say('name other');
    expect(house.vendor.did).toEqual(['name other']);
    keepAlive(house, 220);
    await settled();
    expect(house.ends()).toEqual([['failure', 'FORBIDDEN']]);

    const insistent = await aSession({ caller: aCaller(aKey({ models: ['m'] })) });
    for (let tries = 0; tries < 3; tries += 1) insistent.client.say('name other');
    expect(insistent.ends()).toEqual([['failure', 'FORBIDDEN']]);
    expect(insistent.client.did.at(-1)).toBe('(close 1008)');
    expect(insistent.vendor.did).toEqual(['(close 1000)']);
  });

  it('is charged answer by answer, and ends with the allowance', async () => {
    const house = await aSession({ caller: aCaller(aKey({ maxBudget: usd('1.5') })) });
    house.vendor.say('used');
    await settled();
    expect(house.ends()).toEqual([]);
    house.vendor.say('used');
    await settled();
    expect(house.ends()).toEqual([['failure', 'LIMIT_EXCEEDED']]);
    await expect(house.open()).rejects.toThrow('Budget has been exceeded!');
  });

  it('is recorded once, and says nothing more after its end', async () => {
    const house = await aSession();
    house.client.told().ended({ kind: 'cut' });
    house.vendor.told().ended({ kind: 'cut' });
    house.vendor.say('late');
    house.client.say('later');
    house.realtime.endAll();
    expect(house.ends()).toEqual([['failure', 'CLIENT_GONE']]);
    expect([house.client.did, house.vendor.did]).toEqual([['(close 1000)'], ['(close 1000)']]);
    expect(house.realtime.count()).toBe(0);
  });

  it('that meets a bug of ours ends as one', async () => {
    const house = await aSession();
    house.client.say('bug');
    expect(house.ends()).toEqual([['failure', 'INTERNAL']]);
    expect(house.client.did).toEqual(['oops', '(close 1011)']);
    expect(house.ended).toEqual([new TypeError('oops')]);
  });
});

describe('the sessions of a process', () => {
  it('are so many and no more', async () => {
    const house = await aSession();
    const second = await house.open();
    await expect(house.open()).rejects.toThrow('Too many realtime sessions are open. Try again later.');
    second.abandon();
    expect(house.ends()).toEqual([['failure', 'CLIENT_GONE']]);
    (await house.open()).abandon();
    expect(house.realtime.count()).toBe(1);
  });

  it.each(['opens too late', 'never opens'])(
    'leave none behind whose upstream %s when the process goes',
    async (how) => {
      const upstreams = [aSocket(), aSocket()];
      const opening = Promise.withResolvers<void>();
      const house = await aSession({
        open: async (upstream, signal) => {
          const [socket = aSocket()] = upstreams.splice(0, 1);
          if (upstreams.length > 0) return upstream;
          opening.resolve();
          await new Promise<void>((resolve, reject) => {
            signal.addEventListener('abort', () =>
              how === 'never opens' ? reject(signal.reason as Error) : resolve(),
            );
          });
          return { ...upstream, socket: socket.socket };
        },
      });
      const late = house.open();
      await opening.promise;
      const none = house.realtime.ended();
      house.realtime.endAll();
      await expect(late).rejects.toThrow('The process is shutting down.');
      await none;
      expect(house.ends()).toEqual([
        ['failure', 'UNAVAILABLE'],
        ['failure', 'UNAVAILABLE'],
      ]);
    },
  );

  it('end when the process goes, whether their caller was joined or not', async () => {
    const house = await aSession();
    await house.open();
    const none = house.realtime.ended();
    house.realtime.endAll();
    await none;
    expect(house.ends()).toEqual([
      ['failure', 'UNAVAILABLE'],
      ['failure', 'UNAVAILABLE'],
    ]);
    expect(house.client.did).toEqual(['The process is shutting down.', '(close 1001)']);
  });
});
