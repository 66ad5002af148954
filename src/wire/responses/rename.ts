import type { JsonObject } from '../../domain/json-object.ts';
import { asBuffer, topLevelMembers, withMembers } from '../json/members.ts';

/** Names of a response for its caller. */
export interface PublicNames {
  /** Model name as the caller sent it. */
  readonly model: string;
  /** Maps an upstream id to the id that the caller sees. */
  readonly idOf: (upstreamId: string) => string;
  /** `previous_response_id` of the caller. Present when the gateway sent the whole conversation instead of this id. */
  readonly previousId?: string | null;
}

/** A response with the caller's names. `response` is the parsed `json`. All other values keep their bytes. */
export function renamedResponse(json: Uint8Array, response: JsonObject, names: PublicNames): Buffer {
  const changes: Record<string, string> = {};
  if (typeof response['model'] === 'string') changes['model'] = JSON.stringify(names.model);
  for (const member of ['id', 'previous_response_id']) {
    const id = response[member];
    if (typeof id === 'string') changes[member] = JSON.stringify(names.idOf(id));
  }
  if (names.previousId && typeof response['previous_response_id'] !== 'string')
    changes['previous_response_id'] = JSON.stringify(names.previousId);
  return asBuffer(withMembers(json, changes));
}

/** Data of an event, with the caller's names in its `response`. The same buffer when nothing changes. */
export function renamedEvent(data: Buffer, response: JsonObject, names: PublicNames): Buffer {
  const member = topLevelMembers(data)?.findLast(({ key }) => key === 'response');
  if (member === undefined) return data;
  const inner = data.subarray(member.valueStart, member.end);
  const renamed = renamedResponse(inner, response, names);
  if (renamed.equals(inner)) return data;
  return Buffer.concat([data.subarray(0, member.valueStart), renamed, data.subarray(member.end)]);
}
