import type { Caller } from '../../src/domain/caller.ts';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import { type Usd, usdFrom } from '../../src/domain/money.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../../src/domain/realtime/realtime.ts';
import type { OpenSocket, SocketListener, SocketMessage } from '../../src/domain/realtime/sockets.ts';
import { createCallLimits } from '../../src/gateway/admission/rate-limits.ts';
import { createBudgets } from '../../src/gateway/admission/budgets.ts';
import { createRealtime } from '../../src/gateway/sessions/create-realtime.ts';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import { createHealthTracker } from '../../src/gateway/routing/health.ts';
import type { RealtimeLimits } from '../../src/gateway/sessions/realtime.ts';
import { createRouter } from '../../src/gateway/routing/route.ts';
import { anAdmission, someRateLimits } from './admission.ts';
import { aCaller, aDeployment } from './chat.ts';

export const usd = (amount: string): Usd => usdFrom(amount) ?? (0n as Usd);
const NEVER = new AbortController().signal;
const REQUEST: RealtimeRequest = { model: 'm', intent: null, headers: {}, callId: null, parent: null };
const LIMITS: RealtimeLimits = {
  pingMs: 30,
  heartbeatTimeoutMs: 75,
  stalledMs: 60,
  idleMs: 1_000,
  lifeMs: 5_000,
  recheckMs: 200,
  maxRefusals: 2,
  sessions: 2,
};

const message = (text: string): SocketMessage => ({ bytes: Buffer.from(text), binary: false });

/** Fake socket with the test as its peer. Records its calls. */
export function aSocket() {
  const calls: string[] = [];
  let listener: SocketListener | null = null;
  const state = { waiting: 0, full: false };
  const socket: OpenSocket = {
    listen(next) {
      listener = next;
    },
    send({ bytes }) {
      calls.push(Buffer.from(bytes).toString());
      return !state.full;
    },
    waiting: () => state.waiting,
    ping: () => void calls.push('(ping)'),
    pause: () => void calls.push('(pause)'),
    resume: () => void calls.push('(resume)'),
    close: (code, reason) => void calls.push(`(close ${code}${reason && ` ${reason}`})`),
  };
  const currentListener = (): SocketListener => {
    if (listener === null) throw new Error('The session has no listener.');
    return listener;
  };
  return { socket, calls, state, currentListener, say: (text: string) => currentListener().message(message(text)) };
}

/** Session between two fake sockets, with a clock that the test advances. */
export async function aSession(
  overrides: {
    caller?: Caller;
    identify?: () => Caller | Promise<Caller>;
    open?: (upstream: RealtimeUpstream, signal: AbortSignal) => Promise<RealtimeUpstream>;
  } = {},
) {
  const client = aSocket();
  const vendor = aSocket();
  const records: CallRecord[] = [];
  let nowMs = 0;
  let idCount = 0;
  const upstream: RealtimeUpstream = {
    socket: vendor.socket,
    // `name x` requests the model x, and `bug` causes an unexpected error.
    outbound(sent, assertMayCall) {
      const text = Buffer.from(sent.bytes).toString();
      if (text.startsWith('name ')) assertMayCall(text.slice(5));
      if (text === 'bug') throw new TypeError('oops');
      return sent;
    },
    // The message `used` reports usage.
    inbound: (received) => ({
      message: received,
      fact: Buffer.from(received.bytes).toString() === 'used' ? { kind: 'used', by: 'session', usage: USAGE } : null,
    }),
    showable: (reason) => reason,
    failureOf: (end) => new UpstreamFailed(end.kind, { provider: 'openai', upstreamStatus: null }),
  };
  const admission = anAdmission();
  const price = (): Usd => usd('1');
  const budgets = createBudgets({
    admission,
    expectations: { of: () => ({ cost: price(), learn: () => {} }) },
    isFree: () => false,
    errorKind: 'unprocessable',
  });
  const realtime = createRealtime(
    {
      routeOf: createRouter(
        [aDeployment()],
        [
          {
            name: 'openai',
            send: () => Promise.reject(new Error()),
            openRealtime: (_deployment, _request, signal) =>
              overrides.open?.(upstream, signal) ?? Promise.resolve(upstream),
          },
        ],
      ),
      selection: { of: (_call, router) => router },
      targetOf: (name) => name,
      bindToRegion: (_caller, request) => request,
      tools: {
        health: createHealthTracker({ now: () => new Date(0), monotonicMs: () => nowMs }),
        recorder: { record: (call) => void records.push(call) },
        clock: { now: () => new Date(0), monotonicMs: () => nowMs },
        ids: {
          uuid: () => {
            idCount += 1;
            return `uuid-${idCount}`;
          },
          traceId: () => '1'.repeat(32),
          spanId: () => '2'.repeat(16),
        },
        capturePrompts: true,
        price,
        budgets,
        limits: createCallLimits(someRateLimits(), { now: () => new Date(0) }),
      },
    },
    LIMITS,
  );
  const { caller = aCaller() } = overrides;
  const { identify = () => caller } = overrides;
  const open = () => realtime.open(caller, REQUEST, { signal: NEVER, identify });
  const session = await open();
  const ended: unknown[] = [];
  session.relay({
    socket: client.socket,
    errorEvent: (failure) => message(failure instanceof Error ? failure.message : 'bug'),
    ended: (failure) => void ended.push(failure),
  });
  return {
    client,
    vendor,
    realtime,
    ended,
    open,
    admission,
    /** Status and error code of each recorded session. */
    ends: () => records.map(({ spend }) => [spend.status, spend.error?.code ?? null]),
    /** Advances the clock and runs the periodic check of sessions. */
    wait(ms: number) {
      nowMs += ms;
      realtime.runChecks();
    },
  };
}

const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
/** Waits one turn of the event loop, so that pending promises settle. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
