import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';
import { withMembers } from '../json/members.ts';

/** The request as Google gets it: the caller's bytes, without what speaks to the gateway or belongs in the path. */
export function contentRequest({ bytes, body }: ModelRequest): Uint8Array {
  const changes: Record<string, string | null> = {};
  for (const field of [...GATEWAY_FIELDS, 'model', 'stream']) if (body[field] !== undefined) changes[field] = null;
  return withMembers(bytes, changes);
}
