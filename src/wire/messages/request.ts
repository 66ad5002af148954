import type { ModelRequest } from '../../domain/chat/chat.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';

/**
 * The request for an upstream of this dialect: with its model name, without gateway fields. All other values keep their
 * bytes, `metadata` included: in this dialect it is a provider field.
 */
export const upstreamMessages = (request: ModelRequest, upstreamModel: string): Uint8Array =>
  withMembers(request.bytes, { ...upstreamMembers(request), model: JSON.stringify(upstreamModel) });
