import { AddressRefused, type HttpCallOptions, type HttpClient, type UpstreamConnections } from '../../domain/http.ts';
import type { CallerAddresses } from '../network/caller-addresses.ts';
import { type Address, headLines, readAddress } from './address.ts';
import { Call, type AnswerResolvers } from './call.ts';
import { misused } from './faults.ts';
import { type Destination, type OriginPool, CallDispatch, type Request } from './call-dispatch.ts';
import { Origin } from './origin.ts';
import { FairSlots } from './fair-shares.ts';
import { type TimeSource, DeadlineWatch } from './deadline-watch.ts';
import { dialSocket, type Dial } from './socket.ts';

export const DEFAULT_CONNECTIONS = 256;
const DEFAULTS = {
  connections: DEFAULT_CONNECTIONS,
  ownerFraction: 0.75,
  silenceLimitMs: 300_000,
  stallLimitMs: 120_000,
} as const;
/** Maximum number of cached targets, which are URLs with their parsed address. A further one evicts all of them. */
const TARGETS_LIMIT = 1_000;
/** Maximum number of cached origins. A further one evicts those without a call and without a connection. */
const ORIGINS_LIMIT = 1_000;

export interface HttpClientOptions {
  /** Maximum number of connections to one origin; calls beyond it wait. */
  readonly connections?: number;
  /** An owner may use this fraction of the connections that other owners do not use. Above 0, at most 1. */
  readonly ownerFraction?: number;
  /** Maximum time between two reads of a body before its call fails, in ms. */
  readonly silenceLimitMs?: number;
  /** Maximum pause of an answer's reader before its call is ended, in ms. */
  readonly stallLimitMs?: number;
  readonly time?: TimeSource;
  /** Checks addresses chosen by callers; all of them are refused when absent. */
  readonly callerAddresses?: CallerAddresses;
}

/** An HTTP client with connection counts. */
export interface UpstreamClient extends HttpClient {
  connections(): UpstreamConnections;
}

/** Transport of requests. */
export interface Transport {
  /**
   * The connections of one origin. Called again for an origin that was dropped, because it had no call and no
   * connection.
   */
  pool(address: Address): OriginPool;
  /** Idle connections that no pool counts. */
  idle(): number;
  /** Closes the remaining resources after every pool is closed. */
  close(): Promise<void>;
}

interface Target {
  readonly destination: Destination;
  readonly address: Address;
}

/**
 * Calls upstreams over its own HTTP/1.1 connections with keep-alive (ADR 0022): a general-purpose client costs more
 * than the rest of a call.
 */
export function createHttpClient({
  dial = dialSocket,
  ...options
}: HttpClientOptions & { readonly dial?: Dial } = {}): UpstreamClient {
  return createClient(options, (watch) => ({
    pool: ({ peer }) => new Origin(peer, { watch, dial }),
    idle: () => 0,
    async close() {},
  }));
}

/** Queueing, deadlines and settling of calls: the same over every transport (ADR 0054). */
export function createClient(options: HttpClientOptions, open: (watch: DeadlineWatch) => Transport): UpstreamClient {
  const { connections, ownerFraction, silenceLimitMs, stallLimitMs, callerAddresses } = { ...DEFAULTS, ...options };
  const watch = new DeadlineWatch(options.time);
  const limits = { watch, silenceMs: silenceLimitMs, stallMs: stallLimitMs };
  const transport = open(watch);
  const destinations = new Map<string, Destination>();
  const targets = new Map<string, Target>();
  /** Calls that wait for a connection or have one. */
  let openCalls = 0;
  let closing: Promise<void> | null = null;
  let onDrained: (() => void) | null = null;

  const settled = (): void => {
    openCalls -= 1;
    if (openCalls === 0) onDrained?.();
  };

  function destinationOf(address: Address, name = address.origin): Destination {
    const known = destinations.get(name);
    if (known !== undefined) return known;
    if (destinations.size >= ORIGINS_LIMIT) dropUnused();
    const slots = new FairSlots({ limit: connections, fraction: ownerFraction });
    const created = { pool: transport.pool(address), slots, settled };
    destinations.set(name, created);
    return created;
  }

  /**
   * Destination of an address chosen by a caller. Its connections are separate, so that such a call never uses a
   * connection whose address was not checked. Throws AddressRefused.
   */
  function destinationForCaller(address: Address): Destination {
    if (callerAddresses === undefined) throw new AddressRefused();
    const peer = callerAddresses.guarded(address.peer);
    return destinationOf({ ...address, peer, direct: true }, `caller ${address.origin}`);
  }

  /** Drops destinations without a call and without a connection: callers can send any number of addresses. */
  function dropUnused(): void {
    targets.clear();
    for (const [origin, { pool, slots }] of destinations) {
      const { active, idle } = pool.counts();
      if (slots.used + slots.waiting + active + idle > 0) continue;
      destinations.delete(origin);
      pool.close();
    }
  }

  function targetOf(url: string, { chosenByCaller = false }: HttpCallOptions): Target {
    if (chosenByCaller) {
      const address = readAddress(url);
      return { address, destination: destinationForCaller(address) };
    }
    const known = targets.get(url);
    if (known !== undefined) return known;
    const address = readAddress(url);
    const target = { address, destination: destinationOf(address) };
    if (targets.size >= TARGETS_LIMIT) targets.clear();
    targets.set(url, target);
    return target;
  }

  function begin(
    { destination, request }: { readonly destination: Destination; readonly request: Request },
    { signal, headersTimeoutMs, owner = '' }: HttpCallOptions,
    settle: AnswerResolvers,
  ): void {
    const call = new Call(settle, signal, headersTimeoutMs, limits);
    openCalls += 1;
    new CallDispatch(call, request, destination).enter(owner);
  }

  function assertUsable({ signal }: HttpCallOptions): void {
    if (signal.aborted) throw signal.reason;
    if (closing !== null) throw misused('the client is closed');
  }

  async function shutDown(): Promise<void> {
    if (openCalls > 0) {
      await new Promise<void>((resolve) => {
        onDrained = resolve;
      });
    }
    for (const { pool } of destinations.values()) pool.close();
    await transport.close();
  }

  return {
    post: (url, headers, body, callOptions) =>
      new Promise((resolve, reject) => {
        assertUsable(callOptions);
        const { address, destination } = targetOf(url, callOptions);
        const head = `${address.head}${headLines(headers)}`;
        const request: Request = { method: 'POST', path: address.path, headers, head, body };
        begin({ destination, request }, callOptions, { resolve, reject });
      }),
    send: (method, url, headers, body, callOptions) =>
      new Promise((resolve, reject) => {
        assertUsable(callOptions);
        // Not cached: many of these addresses contain ids.
        const address = readAddress(url, method);
        const head = `${address.head}${headLines(headers)}`;
        const request: Request = { method, path: address.path, headers, head, body };
        const { chosenByCaller = false } = callOptions;
        const destination = chosenByCaller ? destinationForCaller(address) : destinationOf(address);
        begin({ destination, request }, callOptions, { resolve, reject });
      }),
    connections() {
      const sum = { active: 0, idle: transport.idle(), waiting: 0, limit: connections };
      for (const { pool, slots } of destinations.values()) {
        const { active, idle } = pool.counts();
        sum.active += active;
        sum.idle += idle;
        sum.waiting += slots.waiting;
      }
      return sum;
    },
    close: () => (closing ??= shutDown()),
  };
}
