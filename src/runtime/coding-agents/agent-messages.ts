import { createHash, createHmac } from 'node:crypto';
import type { AgentMessages } from '../../domain/coding-agents/agent-polls.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { Secret } from '../../domain/secret.ts';
import { sameBytes } from '../same-secret.ts';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** Maximum number of messages in memory, to recognize repeated ones. */
const MAX_MESSAGES = 10_000;

/**
 * Checks signatures of webhooks, and recognizes repeated messages. A signature is `sha256=` with the HMAC-SHA256 of the
 * body in hexadecimal.
 */
export function createAgentMessages(secret: Secret | null): AgentMessages {
  const stored = new Set<string>();
  const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64');
  return {
    configured: secret !== null,
    isSigned(bytes, signature) {
      const [, sent] = SIGNATURE.exec(signature ?? '') ?? [];
      if (secret === null || sent === undefined) return false;
      return sameBytes(createHmac('sha256', secret.reveal()).update(bytes).digest(), Buffer.from(sent, 'hex'));
    },
    isStored: (bytes) => stored.has(digestOf(bytes)),
    addStored(bytes) {
      stored.add(digestOf(bytes));
      evictOldest(stored, MAX_MESSAGES);
    },
  };
}
