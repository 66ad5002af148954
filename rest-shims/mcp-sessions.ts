import { endMcpSessions, listMcpSessions, type McpSessionView } from '../resolvers/mcp-sessions.ts';
import { query, text } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

/** Characters of an id that answers show. A whole id is a capability of its client. */
const SHOWN_ID = 8;

const renderSession = (one: McpSessionView) => ({
  session_id_prefix: one.id.slice(0, SHOWN_ID),
  client_name: one.clientName,
  client_version: one.clientVersion,
  user_id: one.userId,
  user_email: one.userEmail,
  key_alias: one.keyAlias,
  team_id: one.teamId,
  team_alias: one.teamAlias,
  client_ip: one.clientAddress,
  idle_seconds: Math.round(one.idleMs / 1000),
  in_flight_requests: one.runningRequests,
});

/** Numbers of sessions by label, the largest first. */
function countsBy(sessions: readonly McpSessionView[], labelOf: (session: McpSessionView) => string | null) {
  const groups = Map.groupBy(sessions, (session) => labelOf(session) ?? 'unknown');
  return [...groups]
    .map(([label, { length }]) => ({ label, count: length }))
    .toSorted((one, other) => other.count - one.count);
}

const readSelector = query({ session_id_prefix: text, user_id: text });

/** Sessions of MCP clients in this process. */
export const mcpSessionRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT,
    name: 'mcpSessions.list',
    method: 'GET',
    paths: ['/v1/mcp/sessions'],
    statuses: [200, 401, 403],
    bodyLimit: 0,
    parse: () => undefined,
    run: listMcpSessions,
    render: (sessions) =>
      json({
        worker_pid: process.pid,
        total_sessions: sessions.length,
        by_client: countsBy(sessions, ({ clientName }) => clientName),
        by_user: countsBy(sessions, ({ userEmail, userId }) => userEmail ?? userId),
        sessions: sessions.map(renderSession),
      }),
  }),
  route({
    ...MANAGEMENT,
    name: 'mcpSessions.end',
    querySchema: readSelector.schema,
    method: 'DELETE',
    paths: ['/v1/mcp/sessions'],
    statuses: [200, 400, 401, 403, 422],
    bodyLimit: 1024,
    parse({ search }) {
      const { session_id_prefix: idPrefix, user_id: userId } = readSelector(search);
      return { idPrefix, userId };
    },
    run: endMcpSessions,
    render: (ended) =>
      json({ worker_pid: process.pid, terminated_sessions: ended.length, sessions: ended.map(renderSession) }),
  }),
];
