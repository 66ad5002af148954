import type { AnswerTypes } from './notation.ts';

const SESSION = `
  { session_id_prefix: string, client_name: string | null, client_version: string | null, user_id: string | null,
  user_email: string | null, key_alias: string | null, team_id: string | null, team_alias: string | null,
  client_ip: string | null, idle_seconds: integer, in_flight_requests: integer }
`;
const RESOURCE = '{ resource: string, authorization_servers: string[], scopes_supported: unknown[] }';
const EVENTS = { 'text/event-stream': 'string' } as const;

/** Answers of the endpoints of the Model Context Protocol, and of the routes about their sessions. */
export const MCP_ENDPOINT_ANSWERS: AnswerTypes = {
  'mcpProtocol.end': '{ message: string }',
  'mcpProtocol.listen': EVENTS,
  'mcpProtocol.send': EVENTS,
  'mcpProtocol.send 202': { 'text/plain': 'string' },
  'mcpResources.gateway': RESOURCE,
  'mcpResources.server': RESOURCE,
  'mcpSessions.end': `{ worker_pid: integer, terminated_sessions: integer, sessions: ${SESSION}[] }`,
  'mcpSessions.list': `
    { worker_pid: integer, total_sessions: integer, by_client: { label: string, count: integer }[],
    by_user: { label: string, count: integer }[], sessions: ${SESSION}[] }
  `,
};
