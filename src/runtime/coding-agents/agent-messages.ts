import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AgentMessages } from '../../domain/coding-agents/agent-polls.ts';
import type { Secret } from '../../domain/secret.ts';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** Signatures of webhooks: `sha256=` and the HMAC-SHA256 of the body in hexadecimal. */
export const createAgentMessages = (secret: Secret | null): AgentMessages => ({
  configured: secret !== null,
  isSigned(bytes, signature) {
    const [, sent] = SIGNATURE.exec(signature ?? '') ?? [];
    if (secret === null || sent === undefined) return false;
    return timingSafeEqual(createHmac('sha256', secret.reveal()).update(bytes).digest(), Buffer.from(sent, 'hex'));
  },
});
