import type { ModelRequest } from '../../domain/chat/chat.ts';
import { object } from '../json/fields.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';

/** Vendor differences of requests. */
export interface RequestForm {
  /** Whether `stream_options` may be sent. True when absent. Vendors that reject it report usage on every stream. */
  readonly streamOptions?: boolean;
}

/**
 * The request for the upstream: with its model name, without gateway fields, and with usage requested on every stream.
 * All other values keep their bytes. `metadata` is a gateway field and removed, unless `store` is true: providers
 * accept it only then.
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
    const options = object(body['stream_options']);
    if (options['include_usage'] !== true)
      changes['stream_options'] = JSON.stringify({ ...options, include_usage: true });
  }
  return withMembers(request.bytes, changes);
}
