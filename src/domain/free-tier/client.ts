import type { Secret } from '../secret.ts';

/** The sender of one request, known or not: the same for every operation the request runs. */
export class Client {
  readonly #network: string;
  /** What it sent as a key, whether or not anybody knows it; null when it sent none. */
  readonly credential: Secret | null;
  #charge: Promise<void> | 'done' | null = null;

  constructor(network: string, credential: Secret | null) {
    this.#network = network;
    this.credential = credential;
  }

  /** What its calls are counted by: an IPv4 address or the /64 of an IPv6 one. Never to be stored or logged. */
  get network(): string {
    return this.#network;
  }

  /** Charges the request, unless that was done: a request counts once, however much it asks for. */
  chargeOnce(counting: { charge(client: Client): void | Promise<void> }): void | Promise<void> {
    this.#charge ??= counting.charge(this) ?? 'done';
    return this.#charge === 'done' ? undefined : this.#charge;
  }
}
