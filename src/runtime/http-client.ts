import { AddressRefused, type HttpClient, type UpstreamAnswer } from '../domain/http.ts';
import type { CallerAddresses } from './caller-addresses.ts';
import { Call } from './http-call.ts';
import { misused } from './http-faults.ts';
import { Origin, headLines, readAddress, type Target } from './http-origin.ts';

/** Most connections to one origin; calls beyond it wait for one to come free. */
const CONNECTIONS = 256;
/** Longest silence inside a body before the upstream counts as gone. */
const SILENCE_LIMIT_MS = 300_000;
/** Addresses whose request line is remembered. */
const TARGETS_LIMIT = 1_000;
/** Origins chosen by callers that are kept; beyond it those without a connection are dropped. */
const CALLER_ORIGINS_LIMIT = 100;

/**
 * Calls upstreams over kept-alive HTTP/1.1 connections of its own (ADR 0022): general clients cost more than the
 * rest of a call.
 */
export function createHttpClient(
  options: {
    readonly connections?: number;
    readonly silenceLimitMs?: number;
    /** Judges addresses chosen by callers; none of them is called when absent. */
    readonly callerAddresses?: CallerAddresses;
  } = {},
): HttpClient {
  const { connections = CONNECTIONS, silenceLimitMs = SILENCE_LIMIT_MS, callerAddresses } = options;
  const origins = new Map<string, Origin>();
  /** Apart from the others: no call to an address chosen by a caller uses a connection that was not checked. */
  const callerOrigins = new Map<string, Origin>();
  const targets = new Map<string, Target>();
  let closed = false;

  function found({ name, peer, head }: ReturnType<typeof readAddress>): Target {
    const origin = origins.get(name) ?? new Origin(peer, { limit: connections, silenceMs: silenceLimitMs });
    origins.set(name, origin);
    return { origin, head };
  }

  /** As `found`, for an address chosen by a caller. Throws AddressRefused. */
  function foundForCaller({ name, peer, head }: ReturnType<typeof readAddress>): Target {
    if (callerAddresses === undefined) throw new AddressRefused();
    const guarded = callerAddresses.guarded(peer);
    const origin = callerOrigins.get(name) ?? new Origin(guarded, { limit: connections, silenceMs: silenceLimitMs });
    if (callerOrigins.size >= CALLER_ORIGINS_LIMIT)
      for (const [other, { unused }] of callerOrigins) if (unused) callerOrigins.delete(other);
    callerOrigins.set(name, origin);
    return { origin, head };
  }

  function targetOf(address: string): Target {
    const known = targets.get(address);
    if (known) return known;
    const target = found(readAddress(address));
    if (targets.size >= TARGETS_LIMIT) targets.clear();
    targets.set(address, target);
    return target;
  }

  return {
    post: (url, headers, body, { signal, headersTimeoutMs, chosenByCaller }) =>
      new Promise<UpstreamAnswer>((resolve, reject) => {
        if (signal.aborted) throw signal.reason;
        if (closed) throw misused('the client is closed');
        const { origin, head } = chosenByCaller === true ? foundForCaller(readAddress(url)) : targetOf(url);
        const lines = headLines(headers);
        const call = new Call(signal, resolve, reject);
        origin.send({
          call,
          head: `${head}${lines}content-length: ${body.length}\r\n\r\n`,
          body,
          headMs: headersTimeoutMs,
        });
      }),
    send: (method, url, headers, body, { signal, headersTimeoutMs, chosenByCaller }) =>
      new Promise<UpstreamAnswer>((resolve, reject) => {
        if (signal.aborted) throw signal.reason;
        if (closed) throw misused('the client is closed');
        // Not remembered: such addresses name things, and there is no end of them.
        const address = readAddress(url, method);
        const { origin, head } = chosenByCaller === true ? foundForCaller(address) : found(address);
        const length = body.reduce((sum, piece) => sum + piece.length, 0);
        const carried = method === 'POST' || length > 0 ? `content-length: ${length}\r\n` : '';
        const whole = `${head}${headLines(headers)}${carried}\r\n`;
        origin.send({ call: new Call(signal, resolve, reject), head: whole, body, headMs: headersTimeoutMs });
      }),
    async close() {
      closed = true;
      await Promise.all([...origins.values(), ...callerOrigins.values()].map((origin) => origin.close()));
    },
  };
}
