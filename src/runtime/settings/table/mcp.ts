import { anyValue, flag, list } from '../kinds.ts';
import { setting } from '../setting.ts';

const commandFault = (command: string): string | null =>
  /^[\w./-]{1,256}$/.test(command) ? null : 'is not the name or path of a program';

/** MCP servers and agents. */
export const MCP_SETTINGS = {
  mcpStdio: setting({
    kind: flag(),
    default: false,
    env: ['LENSGATE_ENABLE_MCP_STDIO', 'LITELLM_ENABLE_MCP_STDIO'],
    description:
      'Allows MCP servers with the transport `stdio`: the process starts their programs. Commands: `npx`, `uvx`, `python`, `python3`, `node`, `docker`, `deno`.',
  }),
  mcpStdioCommands: setting({
    kind: list('commands', commandFault),
    default: [],
    env: ['LENSGATE_MCP_STDIO_COMMANDS', 'LITELLM_MCP_STDIO_EXTRA_COMMANDS'],
    description: 'Further commands of MCP servers with the transport `stdio`.',
  }),
  mcpAliases: setting({
    kind: anyValue('map of aliases to names of servers'),
    default: null,
    file: 'litellm_settings.mcp_aliases',
    description: 'Aliases of servers of `mcp_servers` that set no `alias`.',
  }),
  publicAgents: setting({
    kind: anyValue('list of ids or names of agents'),
    default: null,
    file: 'litellm_settings.public_agent_groups',
    description: 'Agents of the file whose cards are listed at `/public/agent_hub`.',
  }),
  mcpRegistry: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.enable_mcp_registry',
    description: 'Lists the public MCP servers at `/v1/mcp/registry.json`, without a key.',
  }),
  keysNeedMcpServers: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.require_key_mcp_access_defined',
    description: 'Keys without MCP servers of their own have none. They do not inherit those of their team.',
  }),
  customersNeedMcpServers: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.require_end_user_mcp_access_defined',
    description: 'Calls that name a customer without MCP servers of its own have none.',
  }),
} as const;
