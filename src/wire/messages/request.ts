import type { ModelRequest } from '../../domain/chat/chat.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';

/**
 * The request as an upstream of this dialect gets it: its own model name and no gateway fields. All other values go on
 * byte for byte, `metadata` too: here it is the provider's.
 */
export const upstreamMessages = (request: ModelRequest, upstreamModel: string): Uint8Array =>
  withMembers(request.bytes, { ...upstreamMembers(request), model: JSON.stringify(upstreamModel) });
