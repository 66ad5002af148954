import { asBuffer, topLevelMembers, withMembers } from '../json/members.ts';

/** How a response is shown to its caller. */
export interface ShownAs {
  /** The model as the caller named it. */
  readonly model: string;
  /** An id of the upstream's as the caller gets to see it. */
  readonly idOf: (upstreamId: string) => string;
  /** What the response goes on from, where its upstream was told the conversation instead. */
  readonly previousId?: string | null;
}

/** A response's bytes with its names as the caller knows them; everything else keeps its bytes. */
export function shownResponse(json: Uint8Array, response: Readonly<Record<string, unknown>>, as: ShownAs): Buffer {
  const changes: Record<string, string> = {};
  if (typeof response['model'] === 'string') changes['model'] = JSON.stringify(as.model);
  for (const member of ['id', 'previous_response_id']) {
    const id = response[member];
    if (typeof id === 'string') changes[member] = JSON.stringify(as.idOf(id));
  }
  if (as.previousId && typeof response['previous_response_id'] !== 'string')
    changes['previous_response_id'] = JSON.stringify(as.previousId);
  return asBuffer(withMembers(json, changes));
}

/** The data of an event that holds a response, shown in the same way. */
export function shownEvent(data: Buffer, response: Readonly<Record<string, unknown>>, as: ShownAs): Buffer {
  const member = topLevelMembers(data)?.find(({ key }) => key === 'response');
  if (member === undefined) return data;
  const inner = data.subarray(member.valueStart, member.end);
  const shown = shownResponse(inner, response, as);
  if (shown.equals(inner)) return data;
  return Buffer.concat([data.subarray(0, member.valueStart), shown, data.subarray(member.end)]);
}
