import { InvalidInput } from '../src/domain/errors.ts';
import type { McpSession } from '../src/domain/mcp-sessions/session.ts';
import type { McpSessionSelector } from '../src/domain/mcp-sessions/sessions.ts';
import { mcpSessionAdmin, mcpSessionViewer } from './operation/mcp-session-access.ts';
import type { McpSessionPlatform } from './operation/mcp-session-platform.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** A session with the names of its owners. */
export interface McpSessionView {
  readonly id: string;
  readonly clientName: string | null;
  readonly clientVersion: string | null;
  readonly userId: string | null;
  readonly userEmail: string | null;
  readonly keyAlias: string | null;
  readonly teamId: string | null;
  readonly teamAlias: string | null;
  readonly clientAddress: string | null;
  /** Time since its last use, in ms. */
  readonly idleMs: number;
  readonly runningRequests: number;
}

/** Shortest start of an id that selects sessions, in characters. */
const MIN_PREFIX = 8;

type Slice = Pick<McpSessionPlatform, 'mcpSessions'>;

/** Open sessions of this process, the longest unused first. */
export const listMcpSessions = operation({
  name: 'listMcpSessions',
  access: mcpSessionViewer,
  run: (scope: Scope<Slice>): Promise<readonly McpSessionView[]> =>
    Promise.all(scope.platform.mcpSessions.list().map(({ session, idleMs }) => viewOf(scope, session, idleMs))),
});

/** Ends sessions of this process. Throws InvalidInput without a condition, and for a start of an id that is short. */
export const endMcpSessions = operation({
  name: 'endMcpSessions',
  access: mcpSessionAdmin,
  run(scope: Scope<Slice>, selector: McpSessionSelector): Promise<readonly McpSessionView[]> {
    const { idPrefix, userId } = selector;
    if (idPrefix === null && userId === null)
      throw new InvalidInput('Name the sessions: session_id_prefix, user_id, or both.', [], { field: 'mcp_sessions' });
    if (idPrefix !== null && idPrefix.length < MIN_PREFIX) throw shortPrefix(idPrefix);
    const ended = scope.platform.mcpSessions.endSelected(selector);
    return Promise.all(ended.map((session) => viewOf(scope, session, 0)));
  },
});

function shortPrefix(input: string): InvalidInput {
  const message = `String should have at least ${MIN_PREFIX} characters`;
  const path = ['query', 'session_id_prefix'];
  return new InvalidInput(message, [
    { path, rule: 'string_too_short', message, input, context: { min_length: MIN_PREFIX } },
  ]);
}

async function viewOf({ loaders }: Scope<Slice>, session: McpSession, idleMs: number): Promise<McpSessionView> {
  const { id, caller, client, clientAddress } = session.facts;
  const { userId, teamId, key } = caller;
  const { userById, teamById } = loaders.owners;
  const [user, team] = await Promise.all([
    userId === null ? null : userById.load(userId),
    teamId === null ? null : teamById.load(teamId),
  ]);
  return {
    id,
    clientName: client.name,
    clientVersion: client.version,
    userId,
    userEmail: user?.email ?? null,
    keyAlias: key?.alias ?? null,
    teamId,
    teamAlias: team?.alias ?? null,
    clientAddress,
    idleMs,
    runningRequests: session.runningRequests,
  };
}
