import type { ModelRequest } from '../../domain/chat/chat.ts';
import { withMembers } from '../json/members.ts';
import { upstreamMembers } from '../json/upstream-members.ts';

/** The request for Google: without gateway fields, `model` and `stream`. The path has the last two. */
export const contentRequest = (request: ModelRequest): Uint8Array =>
  withMembers(request.bytes, { ...upstreamMembers(request), model: null, stream: null });
