import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';
import { list, object } from '../json/fields.ts';
import { withMembers } from '../json/members.ts';
import { isProofHere } from './write-request.ts';

/** Whether an upstream of this dialect takes an item of an answer that may be another's: thoughts it can read it made itself. */
const isReadable = (value: unknown): boolean => {
  const { type, encrypted_content: proof } = object(value);
  return type !== 'reasoning' || isProofHere(proof);
};

/** The request as the upstream gets it: its own model name and ids, no gateway fields. All other values go on byte for byte. */
export function upstreamResponseRequest(
  { body, bytes, replaced = {} }: ModelRequest,
  upstreamModel: string,
): Uint8Array {
  const changes: Record<string, string | null> = { model: JSON.stringify(upstreamModel) };
  for (const [member, value] of Object.entries(replaced)) {
    const sent = member === 'input' ? list(value).filter(isReadable) : value;
    changes[member] = sent === undefined ? null : JSON.stringify(sent);
  }
  for (const field of GATEWAY_FIELDS) if (body[field] !== undefined) changes[field] = null;
  return withMembers(bytes, changes);
}
