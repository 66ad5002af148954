/** Result of a poll of an agent. */
export type PollResult = 'changed' | 'same' | 'ended';

/** Polls of agents. Followers of one agent in this process share one poll. */
export interface AgentPolls {
  /**
   * Polls an agent until its state is final or its last follower has left. The time between polls begins at the configured
   * one and grows while nothing changes; a rejected poll counts as no change. Returns the function with which a follower
   * leaves; it may be called again. `poll` of the first follower is used for all of them.
   */
  follow(id: string, poll: (signal: AbortSignal) => Promise<PollResult>): () => void;
}

/** Checks signatures of messages about agents. */
export interface AgentMessages {
  /** Whether a secret is configured, without which no message is accepted. */
  readonly configured: boolean;
  /** Whether the signature of the bytes is that of the secret. */
  isSigned(bytes: Uint8Array, signature: string | null): boolean;
  /** Records the bytes. False when they are among the latest 10,000 messages that this process recorded. */
  isNew(bytes: Uint8Array): boolean;
}
