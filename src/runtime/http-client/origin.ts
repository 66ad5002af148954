import type { Peer } from './address.ts';
import { Connection } from './connection.ts';
import type { OriginPool, CallDispatch } from './call-dispatch.ts';
import type { DeadlineWatch } from './deadline-watch.ts';
import type { Dial } from './socket.ts';

/** The connection pool of one origin. The slots of the client limit the number of connections. */
export class Origin implements OriginPool {
  readonly #peer: Peer;
  readonly #tools: { readonly watch: DeadlineWatch; readonly dial: Dial };
  readonly #open = new Set<Connection>();
  /** Connections without a call. The most recently used one is taken first, so that the others expire. */
  readonly #idle: Connection[] = [];

  constructor(peer: Peer, tools: { readonly watch: DeadlineWatch; readonly dial: Dial }) {
    this.#peer = peer;
    this.#tools = tools;
  }

  send(dispatch: CallDispatch): void {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.idle) return last.send(dispatch);
    }
    const connection = new Connection(this.#peer, this, this.#tools);
    this.#open.add(connection);
    connection.send(dispatch);
  }

  resend(dispatch: CallDispatch): void {
    dispatch.start();
  }

  free(connection: Connection): void {
    // A closed connection never returns to the pool.
    if (this.#open.has(connection) && connection.idle) this.#idle.push(connection);
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
    const place = this.#idle.indexOf(connection);
    if (place !== -1) this.#idle.splice(place, 1);
  }

  counts(): { readonly active: number; readonly idle: number } {
    return { active: this.#open.size - this.#idle.length, idle: this.#idle.length };
  }

  close(): void {
    for (const connection of this.#open) connection.abort();
  }
}
