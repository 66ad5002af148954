import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';

/**
 * Changes of a request before it goes upstream, for `withMembers`: JSON text of a replaced member, null for a removed
 * one. Removes the gateway fields and applies `replaced`.
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
