import type { ModelRequest } from '../../domain/chat/chat.ts';
import { object } from '../json/fields.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';
import { isOpenAiProof } from './write-request.ts';

/** Whether an upstream of this dialect accepts an item. It can read only reasoning that it encrypted itself. */
const isReadable = (value: unknown): boolean => {
  const { type, encrypted_content: proof } = object(value);
  return type !== 'reasoning' || isOpenAiProof(proof);
};

/**
 * The request for the upstream: with its model name and ids, without gateway fields. All other values keep their bytes.
 * Reasoning of other vendors is removed from a replaced `input`.
 */
export function upstreamResponseRequest(request: ModelRequest, upstreamModel: string): Uint8Array {
  const changes = upstreamMembers(request);
  changes['model'] = JSON.stringify(upstreamModel);
  const input = request.replaced?.['input'];
  if (Array.isArray(input)) changes['input'] = JSON.stringify(input.filter(isReadable));
  return withMembers(request.bytes, changes);
}
