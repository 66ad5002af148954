import { createHash, createHmac } from 'node:crypto';
import type { AgentMessages } from '../../domain/coding-agents/agent-polls.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { Secret } from '../../domain/secret.ts';
import { sameBytes } from '../same-secret.ts';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** Maximum number of messages in memory, to recognize repeated ones. */
const MAX_MESSAGES = 10_000;

/** Checks signatures of webhooks, `sha256=` and the HMAC-SHA256 of the body in hexadecimal, and recognizes repeated messages. */
export function createAgentMessages(secret: Secret | null): AgentMessages {
  const received = new Set<string>();
  return {
    configured: secret !== null,
    isSigned(bytes, signature) {
      const [, sent] = SIGNATURE.exec(signature ?? '') ?? [];
      if (secret === null || sent === undefined) return false;
      return sameBytes(createHmac('sha256', secret.reveal()).update(bytes).digest(), Buffer.from(sent, 'hex'));
    },
    isNew(bytes) {
      const digest = createHash('sha256').update(bytes).digest('base64');
      if (received.has(digest)) return false;
      received.add(digest);
      evictOldest(received, MAX_MESSAGES);
      return true;
    },
  };
}
