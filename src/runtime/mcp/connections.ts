import { createHash } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { McpServer } from '../../domain/mcp-servers/mcp-server.ts';
import type { McpUpstreamCall } from '../../domain/mcp/mcp-upstream.ts';
import { untilAborted } from '../../domain/until-aborted.ts';
import type { McpConnection } from './connect.ts';

/** Maximum number of open connections. */
const MAX_CONNECTIONS = 256;
/** Maximum number of open connections with headers of one caller. */
const MAX_OF_OWNER = 32;
/** Time without a request after which a connection is closed, in ms. */
const IDLE_MS = 300_000;

type Sender = Pick<McpUpstreamCall, 'headers' | 'owner'>;

interface Entry {
  readonly key: string;
  /** The caller whose headers the connection has; null for a connection that callers share. */
  readonly owner: string | null;
  readonly server: McpServer;
  readonly opening: Promise<McpConnection>;
  users: number;
  lastUsedMs: number;
  isRetired: boolean;
}

/** A connection in use. */
interface Lease {
  readonly connection: McpConnection;
  /** Whether the connection was opened for this use. */
  readonly isNew: boolean;
  /** Ends the use. `broken`: no further request may use the connection. */
  release(broken?: boolean): void;
}

/** Open connections. All requests to a server share one, but requests with headers share it only with their caller. */
export interface Connections {
  /** Opens a connection, or returns an open one. Throws transport errors, Unavailable, and the signal's reason. */
  lease(server: McpServer, sender: Sender, signal: AbortSignal): Promise<Lease>;
  /** Retires the connections of a server. */
  evict(serverId: string): Promise<void>;
  /** Closes idle connections, and those of servers that are no longer in force. */
  sweep(inForce: readonly McpServer[]): void;
  close(): Promise<void>;
  /** Number of connections that are not retired. */
  readonly size: number;
}

/** How a connection is opened. */
interface Opening {
  readonly headers: Sender['headers'];
  /** To be called when the server ends the connection. */
  readonly ended: () => void;
  /** Aborts when the process ends. A connection that is not open then is not opened. */
  readonly signal: AbortSignal;
}

/** `open` connects to a server. */
export function createConnections(
  open: (server: McpServer, opening: Opening) => Promise<McpConnection>,
  clock: Pick<Clock, 'monotonicMs'>,
): Connections {
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** No further request uses the connection. It is closed when the running ones have ended. */
  function retire(entry: Entry): void {
    if (entry.isRetired) return;
    entry.isRetired = true;
    if (entries.get(entry.key) === entry) entries.delete(entry.key);
    if (entry.users === 0) closeEntry(entry);
  }

  function closeEntry({ opening }: Entry): void {
    const done = opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
    closing.add(done);
    void done.finally(() => closing.delete(done));
  }

  /** Retires the longest unused connection of a full group. Throws Unavailable when all are in use. */
  function makeRoomIn(group: readonly Entry[], maximum: number): void {
    if (group.length < maximum) return;
    const idle = group.filter(({ users }) => users === 0);
    const oldest = idle.toSorted((one, other) => one.lastUsedMs - other.lastUsedMs)[0];
    if (oldest === undefined) throw new Unavailable('Too many connections to MCP servers at once. Try again shortly.');
    retire(oldest);
  }

  function makeRoom(owner: string | null): void {
    const ofOwner = owner === null ? [] : [...entries.values()].filter((entry) => entry.owner === owner);
    makeRoomIn(ofOwner, MAX_OF_OWNER);
    makeRoomIn([...entries.values()], MAX_CONNECTIONS);
  }

  /** The open connection for a sender, or a new one. Throws Unavailable when all connections are in use. */
  function entryFor(server: McpServer, sender: Sender): { readonly entry: Entry; readonly isNew: boolean } {
    const owner = ownerOf(server, sender);
    const key = keyOf(server, owner, sender);
    const found = entries.get(key);
    if (found !== undefined && found.server === server) return { entry: found, isNew: false };
    if (found !== undefined) retire(found);
    makeRoom(owner);
    const opening = open(server, {
      headers: sender.headers,
      ended: () => retire(entry),
      signal: stopping.signal,
    });
    const lastUsedMs = clock.monotonicMs();
    const entry: Entry = { key, owner, server, opening, users: 0, lastUsedMs, isRetired: false };
    entries.set(key, entry);
    opening.catch(() => retire(entry));
    return { entry, isNew: true };
  }

  return {
    get size() {
      return entries.size;
    },
    async lease(server, sender, signal) {
      stopping.signal.throwIfAborted();
      const { entry, isNew } = entryFor(server, sender);
      entry.users += 1;
      let isHeld = true;
      const release = (broken = false): void => {
        if (!isHeld) return;
        isHeld = false;
        entry.users -= 1;
        entry.lastUsedMs = clock.monotonicMs();
        if (broken) retire(entry);
        if (entry.isRetired && entry.users === 0) closeEntry(entry);
      };
      try {
        return { connection: await untilAborted(entry.opening, signal), isNew, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    async evict(serverId) {
      for (const entry of entries.values()) if (entry.server.id === serverId) retire(entry);
      await Promise.all(closing);
    },
    sweep(inForce) {
      const oldestUse = clock.monotonicMs() - IDLE_MS;
      for (const entry of entries.values())
        if ((entry.users === 0 && entry.lastUsedMs <= oldestUse) || !inForce.includes(entry.server)) retire(entry);
    },
    async close() {
      stopping.abort(new Unavailable('The gateway is stopping.'));
      for (const entry of entries.values()) {
        retire(entry);
        // Requests that still run are aborted: the process ends.
        if (entry.users > 0) closeEntry(entry);
      }
      await Promise.all(closing);
    },
  };
}

/** The caller of a connection with headers; null for a shared one. A child process receives no headers. */
const ownerOf = ({ transport }: McpServer, { headers, owner }: Sender): string | null =>
  transport === 'stdio' || Object.keys(headers).length === 0 ? null : owner;

/** Key of a connection: the server, and for a connection of one caller also the caller and its headers. */
function keyOf({ id }: McpServer, owner: string | null, { headers }: Sender): string {
  if (owner === null) return id;
  const names = Object.keys(headers).toSorted();
  const text = JSON.stringify([owner, names.map((name) => [name, headers[name]])]);
  return `${id} ${createHash('sha256').update(text).digest('base64')}`;
}
