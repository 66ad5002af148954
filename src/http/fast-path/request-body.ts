import { RequestAborted } from '../../../rest-shims/helpers/http/body.ts';
import type { ArrivingBody } from '../../../rest-shims/helpers/http/outgoing.ts';
import { GatheredBytes } from '../../domain/gathered-bytes.ts';

/** A body on the fast path that did not arrive completely with its head. */
export class FastBody implements ArrivingBody {
  readonly length: number;
  readonly #gathered = new GatheredBytes();
  readonly #onRead: () => void;
  #reading: PromiseWithResolvers<Uint8Array> | null = null;
  #aborted = false;

  /** `onRead` is called when the first read begins, unless the body is complete or aborted. */
  constructor(length: number, onRead: () => void) {
    this.length = length;
    this.#onRead = onRead;
  }

  /** Whether a read has begun. */
  get hasReader(): boolean {
    return this.#reading !== null;
  }

  read(): Promise<Uint8Array> {
    if (this.#reading !== null) return this.#reading.promise;
    this.#reading = Promise.withResolvers();
    if (this.#aborted) this.#reading.reject(new RequestAborted());
    else if (this.#isComplete) this.#reading.resolve(this.#gathered.take());
    else this.#onRead();
    return this.#reading.promise;
  }

  get #isComplete(): boolean {
    return this.#gathered.size === this.length;
  }

  /** Adds bytes of the connection. Returns those after the end of the body; null while the body is not complete. */
  add(bytes: Buffer): Buffer | null {
    const missing = this.length - this.#gathered.size;
    this.#gathered.add(bytes.length > missing ? bytes.subarray(0, missing) : bytes);
    if (bytes.length < missing) return null;
    this.#reading?.resolve(this.#gathered.take());
    return bytes.subarray(missing);
  }

  /** Ends the body early: reads reject with RequestAborted. */
  abort(): void {
    this.#aborted = true;
    this.#gathered.drop();
    this.#reading?.reject(new RequestAborted());
  }
}
