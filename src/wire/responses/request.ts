import type { ModelRequest } from '../../domain/chat/chat.ts';
import { object } from '../json/fields.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';
import { isProofHere } from './write-request.ts';

/** Whether an upstream of this dialect takes an item of an answer that may be another's: thoughts it can read it made itself. */
const isReadable = (value: unknown): boolean => {
  const { type, encrypted_content: proof } = object(value);
  return type !== 'reasoning' || isProofHere(proof);
};

/** The request as the upstream gets it: its own model name and ids, no gateway fields. All other values go on byte for byte. */
export function upstreamResponseRequest(request: ModelRequest, upstreamModel: string): Uint8Array {
  const changes = upstreamMembers(request);
  changes['model'] = JSON.stringify(upstreamModel);
  const input = request.replaced?.['input'];
  if (Array.isArray(input)) changes['input'] = JSON.stringify(input.filter(isReadable));
  return withMembers(request.bytes, changes);
}
