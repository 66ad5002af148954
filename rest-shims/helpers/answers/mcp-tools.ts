import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { ListedTool, McpOutcome, McpToolListing } from '../../../src/domain/mcp/mcp-request.ts';
import type { McpTool } from '../../../src/domain/mcp/mcp-upstream.ts';
import { prefixedName } from '../../../src/domain/mcp/tool-names.ts';
import type { McpPrices } from '../../../src/domain/mcp-servers/mcp-server.ts';
import { usdNumber } from '../../../src/domain/money.ts';

/** Key of the outcomes in `_meta` of a list. */
const OUTCOMES_KEY = 'litellm.ai/server_outcomes';

const renderOutcome = (outcome: McpOutcome): JsonObject =>
  outcome.status === 'ok'
    ? { status: 'ok', tool_count: outcome.toolCount }
    : { status: outcome.status, ...(outcome.httpStatus === null ? {} : { http_status: outcome.httpStatus }) };

/** Outcomes by server id. */
export const renderOutcomes = ({ outcomes }: Pick<McpToolListing, 'outcomes'>): JsonObject =>
  Object.fromEntries([...outcomes].map(([id, outcome]) => [id, renderOutcome(outcome)]));

/** `_meta` of a list in the protocol; undefined when no server was asked. */
export const listMetaOf = (listing: Pick<McpToolListing, 'outcomes'>): JsonObject | undefined =>
  listing.outcomes.size === 0 ? undefined : { [OUTCOMES_KEY]: renderOutcomes(listing) };

/** A tool in a list of the protocol, with the prefix of its server. */
export const prefixedTool = ({ server, tool }: ListedTool): McpTool => ({
  ...tool,
  name: prefixedName(server, tool.name),
});

/** Members of a tool that lists over HTTP have, also as null. */
const TOOL_MEMBERS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'icons',
  'annotations',
  '_meta',
  'execution',
] as const;

/** A tool with all members of the protocol; absent ones are null. */
export const renderTool = (tool: McpTool): JsonObject =>
  Object.fromEntries(TOOL_MEMBERS.map((name) => [name, tool[name] ?? null]));

const renderPrices = ({ perCall, byTool }: McpPrices): JsonObject | null =>
  perCall === null && byTool.size === 0
    ? null
    : {
        default_cost_per_query: perCall === null ? null : usdNumber(perCall),
        tool_name_to_cost_per_query: Object.fromEntries([...byTool].map(([name, price]) => [name, usdNumber(price)])),
      };

/** A tool without prefix, with facts of its server. */
export const renderToolOfServer = ({ server, tool }: ListedTool): JsonObject => ({
  ...renderTool(tool),
  mcp_info: {
    server_name: server.name,
    description: server.description,
    server_id: server.id,
    alias: server.alias,
    mcp_server_cost_info: renderPrices(server.prices),
  },
});
