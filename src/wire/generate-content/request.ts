import type { ModelRequest } from '../../domain/chat/chat.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';

/** The request as Google gets it: the caller's bytes, without what speaks to the gateway or belongs in the path. */
export const contentRequest = (request: ModelRequest): Uint8Array =>
  withMembers(request.bytes, { ...upstreamMembers(request), model: null, stream: null });
