import type { ModelRequest } from '../../domain/chat/chat.ts';
import { object } from '../json/fields.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';

/** In what the requests that vendors take differ. */
export interface RequestForm {
  /** Whether `stream_options` may be sent. Who refuses it counts tokens on every stream unasked. */
  readonly streamOptions?: boolean;
}

/**
 * The request as the upstream gets it: its own model name, no gateway fields, and usage asked for on every
 * stream. All other values go on byte for byte. `metadata` is the gateway's unless the caller asks the
 * provider to store the answer with it, which is the only case in which the provider takes it.
 */
export function upstreamRequest(
  request: ModelRequest,
  upstreamModel: string,
  { streamOptions = true }: RequestForm = {},
): Uint8Array {
  const { body } = request;
  const changes = upstreamMembers(request);
  changes['model'] = JSON.stringify(upstreamModel);
  if (body['metadata'] !== undefined && body['store'] !== true) changes['metadata'] = null;
  if (!streamOptions) changes['stream_options'] = null;
  else if (request.stream) {
    const asked = object(body['stream_options']);
    if (asked['include_usage'] !== true) changes['stream_options'] = JSON.stringify({ ...asked, include_usage: true });
  }
  return withMembers(request.bytes, changes);
}
