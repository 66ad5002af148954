import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';
import { withMembers } from '../json/members.ts';

/** The request as the upstream gets it: its own model name and ids, no gateway fields. All other values go on byte for byte. */
export function upstreamResponseRequest(
  { body, bytes, replaced = {} }: ModelRequest,
  upstreamModel: string,
): Uint8Array {
  const changes: Record<string, string | null> = { model: JSON.stringify(upstreamModel) };
  for (const [member, value] of Object.entries(replaced))
    changes[member] = value === undefined ? null : JSON.stringify(value);
  for (const field of GATEWAY_FIELDS) if (body[field] !== undefined) changes[field] = null;
  return withMembers(bytes, changes);
}
