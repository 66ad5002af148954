import type { RateLimit } from '../../domain/admission/rate-limits.ts';
import type { Caller } from '../../domain/caller.ts';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { McpServer } from '../../domain/mcp-servers/mcp-server.ts';
import { isNamed } from '../../domain/mcp/tool-names.ts';
import { limitedHash } from '../../domain/users/session.ts';

/** Limits of a call to a server: those of the server, and `mcp_rpm_limit` of the key and of its team. */
export function mcpLimitsOf({ key }: Caller, server: McpServer): readonly RateLimit[] {
  const limits: RateLimit[] = [];
  const { requestsPerMinute, maxConcurrentRequests } = server;
  if (requestsPerMinute !== null || maxConcurrentRequests !== null)
    limits.push({
      scope: 'mcp_server',
      id: server.id,
      requests: requestsPerMinute ?? undefined,
      parallel: maxConcurrentRequests ?? undefined,
    });
  if (key === null) return limits;
  const ofKey = limitIn(key.metadata, server);
  if (ofKey !== undefined)
    limits.push({ scope: 'mcp_per_key', id: `${limitedHash(key)}:${server.id}`, requests: ofKey });
  const { team } = key.owners ?? {};
  const ofTeam = team ? limitIn(team.metadata, server) : undefined;
  if (team && ofTeam !== undefined)
    limits.push({ scope: 'mcp_per_team', id: `${team.id}:${server.id}`, requests: ofTeam });
  return limits;
}

/** Requests per minute of a server in the metadata of a key or a team; undefined for no limit. */
function limitIn(metadata: JsonObject, server: McpServer): number | undefined {
  const byServer = metadata['mcp_rpm_limit'];
  if (!isJsonObject(byServer)) return undefined;
  const [, limit] = Object.entries(byServer).find(([name]) => isNamed(server, name)) ?? [];
  return typeof limit === 'number' ? limit : undefined;
}
