/** Result of a poll of a coding agent. */
export type PollResult = 'changed' | 'same' | 'ended';

/** Polls of coding agents. Followers of one agent in this process share one poll. */
export interface AgentPolls {
  /**
   * Adds a follower. An agent is polled until its state is final or its last follower has left, with the `poll` of its
   * first follower. The first interval is the configured one. Intervals grow while nothing changes. A rejected poll
   * counts as no change. Returns an idempotent function that removes the follower.
   */
  follow(id: string, poll: (signal: AbortSignal) => Promise<PollResult>): () => void;
}

/** Checks webhook messages about coding agents. */
export interface AgentMessages {
  /** Whether a secret is configured. Without one, no message is accepted. */
  readonly configured: boolean;
  /** Whether the signature was made of these bytes with the secret. */
  isSigned(bytes: Uint8Array, signature: string | null): boolean;
  /** Whether this is one of the latest 10,000 messages that this process has stored. */
  isStored(bytes: Uint8Array): boolean;
  /** Records a message whose state is stored, for `isStored`. */
  addStored(bytes: Uint8Array): void;
}
