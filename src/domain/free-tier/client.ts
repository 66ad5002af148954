import type { Secret } from '../secret.ts';

/** The sender of one request, authenticated or not. All operations of the request share one object. */
export class Client {
  readonly #network: string;
  /** The sent credential, valid or not; null when there was none. */
  readonly credential: Secret | null;
  readonly #address: string;
  #charge: Promise<void> | 'done' | null = null;

  constructor(network: string, credential: Secret | null, address = network) {
    this.#network = network;
    this.credential = credential;
    this.#address = address;
  }

  /** Its IP address, or `unknown`. Must not be stored or logged. */
  get address(): string {
    return this.#address;
  }

  /** Key of its counter: an IPv4 address, or the /64 prefix of an IPv6 address. Must not be stored or logged. */
  get network(): string {
    return this.#network;
  }

  /** Counts the request against the free tier once, for any number of operations in it. */
  chargeOnce(counting: { charge(client: Client): void | Promise<void> }): void | Promise<void> {
    this.#charge ??= counting.charge(this) ?? 'done';
    return this.#charge === 'done' ? undefined : this.#charge;
  }
}
