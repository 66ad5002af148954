import type { Owner } from '../caller.ts';

/** Something that was asked or said, as the Responses API writes it; so are responses themselves. */
export type Item = Readonly<Record<string, unknown>>;

/** A response that is kept here, because its upstream has no such thing as a response. */
export interface KeptResponse {
  readonly id: string;
  /** The response it goes on from, kept here too; null for the first of a conversation. */
  readonly previousId: string | null;
  readonly owner: Owner;
  readonly createdAt: Date;
  /** What it was asked with, every item with an id; without what the responses before it hold. */
  readonly input: readonly Item[];
  /** The response as its caller got it. */
  readonly response: Item;
}

/** The same as it is stored: what was asked and said can be read by this installation alone. */
export interface SealedResponse extends Pick<KeptResponse, 'id' | 'previousId' | 'owner' | 'createdAt'> {
  readonly sealed: Uint8Array;
}

/** Where sealed responses lie. */
export interface SealedResponseStore {
  /** Adds all of them or none; one whose id is known stays as it is. */
  add(responses: readonly SealedResponse[]): Promise<void>;
  /** Those there are of these, in no order; null when they have more bytes than `mostBytes`. */
  find(ids: readonly string[], mostBytes: number): Promise<readonly SealedResponse[] | null>;
  /**
   * A response and those it goes on from, newest first, as far back as they are there. Ends early after `mostTurns` of
   * them, or with the one that crosses `mostBytes`.
   */
  chain(id: string, mostTurns: number, mostBytes: number): Promise<readonly SealedResponse[]>;
  /** Removes a response for good; nothing happens where there is none. */
  remove(id: string): Promise<void>;
  /** Removes at most so many that were made before, Unix milliseconds, the oldest first; resolves to how many. */
  forget(beforeMs: number, most: number): Promise<number>;
}

/** The responses before a request: all of them, oldest first, or why not all. */
export type Conversation =
  | { readonly kind: 'whole'; readonly turns: readonly KeptResponse[] }
  /** One of them was removed. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'too long' };

/** Keeps responses for their owners. Every read throws Unavailable when the store is away. */
export interface ResponseKeeper {
  /** Whether the answer to a request of so many bytes may be kept. */
  mayKeep(requestBytes: number): boolean;
  /**
   * Takes a response; from then on it can be read. Never waits and never throws: false for one that cannot be kept, because
   * it is too large or too many wait for the store.
   */
  keep(response: KeptResponse): boolean;
  find(id: string): Promise<KeptResponse | null>;
  /** Those there are of these; null when they are too large together. */
  findAll(ids: readonly string[]): Promise<readonly KeptResponse[] | null>;
  /** A response and all that it goes on from. */
  conversation(newest: KeptResponse): Promise<Conversation>;
  /** Removes a response for good. */
  remove(id: string): Promise<void>;
}
