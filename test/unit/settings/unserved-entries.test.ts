import { describe, expect, it } from 'vitest';
import { faultsFrom, warningsFrom } from '../../support/read-settings.ts';

const MCP = `mcp_servers:
  fine: { url: http://127.0.0.1:9/mcp, auth_type: bearer_token, auth_value: os.environ/TOKEN }
  spec: { url: http://127.0.0.1:9/mcp, spec_path: http://127.0.0.1:9/openapi.json }
  aws: { url: http://127.0.0.1:9/mcp, auth_type: aws_sigv4 }
  users: { url: http://127.0.0.1:9/mcp, auth_type: oauth2, oauth2_flow: authorization_code }
  empty: { url: http://127.0.0.1:9/mcp, auth_type: api_key }
  own: { url: http://127.0.0.1:9/mcp, is_byok: true, env_vars: [{ name: A }], alow_all_keys: true }
litellm_settings:
  mcp_aliases: { f: fine, gone: nothing }
`;

const AGENTS = `agents:
  - { agent_name: fine, agent_card_params: { url: http://127.0.0.1:9/ } }
  - { agent_name: other, litellm_params: { custom_llm_provider: langgraph } }
  - { agent_name: bare, rpm_limits: 1 }
litellm_settings:
  public_agent_groups: [fine]
general_settings:
  mcp_allowed_clients: [{ alias: a, value: b }]
`;

const STORES = `vector_store_registry:
  - litellm_params: { vector_store_id: a, custom_llm_provider: openai }
  - litellm_params: { vector_store_id: b, custom_llm_provider: bedrock }
`;

const SEARCH_TOOLS = `search_tools:
  - { search_tool_name: a, litellm_params: { search_provider: tavily } }
  - { search_tool_name: b, litellm_params: { search_provider: bing_grounding }, search_tool_inf: {} }
`;

const WARNINGS: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'mcp_servers',
    MCP,
    [
      'config.yaml:9: litellm_settings.mcp_aliases.gone: names no server of mcp_servers',
      'config.yaml:3: mcp_servers.spec.spec_path: has no effect: tools are not made from OpenAPI documents',
      "config.yaml:4: mcp_servers.aws.auth_type: calls fail: the auth_type 'aws_sigv4' is not supported",
      "config.yaml:5: mcp_servers.users.auth_type: calls fail: the auth_type 'oauth2' needs the flow client_credentials with token_url, client_id and client_secret",
      "config.yaml:6: mcp_servers.empty.auth_type: calls fail: the auth_type 'api_key' needs an auth_value",
      'config.yaml:7: mcp_servers.own.alow_all_keys: is not a known setting; did you mean allow_all_keys?',
      'config.yaml:7: mcp_servers.own.env_vars: has no effect',
      'config.yaml:7: mcp_servers.own.is_byok: calls fail: keys of users are not stored',
    ],
  ],
  [
    'agents',
    AGENTS,
    [
      'config.yaml:3: agents.1.litellm_params.custom_llm_provider: is not served: agents are called by the A2A protocol',
      'config.yaml:4: agents.2.rpm_limits: is not a known setting; did you mean rpm_limit?',
      'config.yaml:4: agents.2.agent_card_params: has no url, so that the agent cannot be called',
      'config.yaml:8: general_settings.mcp_allowed_clients: has no effect',
    ],
  ],
  [
    'vector_store_registry',
    STORES,
    [
      'config.yaml:3: vector_store_registry.1.litellm_params.custom_llm_provider: is not served: supported are openai, custom_openai, openai_like, litellm_proxy',
    ],
  ],
  [
    'search_tools',
    SEARCH_TOOLS,
    [
      'config.yaml:3: search_tools.1.search_tool_inf: is not a known setting; did you mean search_tool_info?',
      'config.yaml:3: search_tools.1.litellm_params.search_provider: is not served: supported are perplexity, tavily, exa_ai, brave, serper, searxng',
    ],
  ],
];

describe('entries of the file that are not served', () => {
  it.each(WARNINGS)('of %s cause a warning, and end a strict start', (_section, yaml, expected) => {
    const env = { TOKEN: 'x' };
    expect(warningsFrom({ yaml, env })).toEqual(expected);
    const faults = faultsFrom({ yaml: `${yaml}strict_config: true\n`, env });
    for (const warning of expected) expect(faults).toContain(warning);
  });
});
