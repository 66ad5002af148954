import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';

/**
 * The members of a request that its upstream is sent otherwise than they came, as JSON text or null for left out: what
 * speaks to the gateway, and what is replaced since.
 */
export function upstreamMembers({
  body,
  replaced = {},
}: Pick<ModelRequest, 'body' | 'replaced'>): Record<string, string | null> {
  const changes: Record<string, string | null> = {};
  for (const member in replaced) {
    const value = replaced[member];
    changes[member] = value === undefined ? null : JSON.stringify(value);
  }
  for (const field of GATEWAY_FIELDS) if (body[field] !== undefined) changes[field] = null;
  return changes;
}
