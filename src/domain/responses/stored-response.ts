import type { JsonObject } from '../json-object.ts';
import type { Owner } from '../caller.ts';

/** An item or response in the format of the Responses API. */
export type ResponseItem = JsonObject;

/** A response stored here, because its upstream does not store responses. */
export interface StoredResponse {
  readonly id: string;
  /** The previous response, also stored here; null for the first of a conversation. */
  readonly previousId: string | null;
  readonly owner: Owner;
  readonly createdAt: Date;
  /** Its input items, each with an id; without the items of previous responses. */
  readonly input: readonly ResponseItem[];
  /** The response as sent to its caller. */
  readonly response: ResponseItem;
}

/** A stored response, encrypted with a key of this installation. */
export interface SealedResponse extends Pick<StoredResponse, 'id' | 'previousId' | 'owner' | 'createdAt'> {
  readonly sealed: Uint8Array;
}

/** Store of encrypted responses. */
export interface SealedResponseStore {
  /** Adds all of them or none; a stored one with the same id stays unchanged. */
  add(responses: readonly SealedResponse[]): Promise<void>;
  /**
   * The responses of these ids that are stored, in no particular order; null when they have more than `mostBytes` in
   * total.
   */
  find(ids: readonly string[], mostBytes: number): Promise<readonly SealedResponse[] | null>;
  /**
   * A response and its previous ones, newest first, up to the first that is missing. Ends early after `mostTurns`
   * responses, or with the one that exceeds `mostBytes`.
   */
  chain(id: string, mostTurns: number, mostBytes: number): Promise<readonly SealedResponse[]>;
  /** Removes a response, if it is stored. */
  remove(id: string): Promise<void>;
  /**
   * Removes at most `most` responses created before `beforeMs` (Unix ms), the oldest first; resolves to their number.
   */
  removeBefore(beforeMs: number, most: number): Promise<number>;
}

/** The previous responses of a request, oldest first, or why they are incomplete. */
export type Conversation =
  | { readonly kind: 'whole'; readonly turns: readonly StoredResponse[] }
  /** A previous response was removed, or cannot be decrypted. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'too long' };

/** Stores responses for their owners. Every read throws Unavailable when the store cannot be reached. */
export interface ResponseQueue {
  /** Whether the answer to a request of this size may be stored. */
  mayStore(requestBytes: number): boolean;
  /**
   * Queues a response for the store; it can be read from now on. Synchronous, never throws. False when it is too large
   * or the queue is full.
   */
  enqueue(response: StoredResponse): boolean;
  find(id: string): Promise<StoredResponse | null>;
  /** The responses of these ids that are stored; null when they are too large together. */
  findAll(ids: readonly string[]): Promise<readonly StoredResponse[] | null>;
  /** A response and all its previous ones. */
  conversation(newest: StoredResponse): Promise<Conversation>;
  /** Removes a response permanently. */
  remove(id: string): Promise<void>;
}
