import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';
import { withMembers } from '../json/members.ts';

/**
 * The request as an upstream of this dialect gets it: its own model name and no gateway fields. All other values go on
 * byte for byte, `metadata` too: here it is the provider's.
 */
export function upstreamMessages({ body, bytes }: ModelRequest, upstreamModel: string): Uint8Array {
  const changes: Record<string, string | null> = { model: JSON.stringify(upstreamModel) };
  for (const field of GATEWAY_FIELDS) if (body[field] !== undefined) changes[field] = null;
  return withMembers(bytes, changes);
}
