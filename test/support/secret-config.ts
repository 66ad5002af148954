/** Secrets of the configuration. Each text occurs nowhere else. */
export const CONFIGURED = {
  masterKey: 'sk-master-3f81c2d4a5',
  salt: 'salt-5b2e77c1d0',
  uiPassword: 'ui-password-91ab3c',
  providerKey: 'sk-provider-71d9e0aa',
  headerOfModel: 'header-of-model-c4d1',
  agentKey: 'agent-account-88d0f1',
  agentWebhook: 'agent-webhook-2f6c9b',
  stripeKey: 'sk_test_stripe4c1d9e2b',
  stripeWebhook: 'whsec_stripe77ab12',
  awsSecret: 'aws-secret-b7c3d9',
  vendorKey: 'vendor-environment-55e1',
  alertUrl: 'alert-hook-6ad2c8',
  callbackKey: 'callback-environment-4471',
  passThroughHeader: 'entry-header-d5a0c2',
  mcpToken: 'mcp-token-04e8b1',
  agentHeader: 'agent-header-9d27c5',
  storeKey: 'sk-store-account-7be3f0',
  searchKey: 'sk-search-account-1c94d2',
  cachePassword: 'cache-password-e83a5f',
} as const;
/** Secrets that callers store, and invalid keys that they send. */
export const STORED = {
  modelKey: 'sk-stored-model-9c81',
  credential: 'sk-credential-63b7f2',
  credentialHeader: 'credential-header-aa41',
  userPassword: 'user-password-17c9d3',
  vaultToken: 'vault-token-cc19e0',
  ssoSecret: 'sso-secret-40be7d',
  redisPassword: 'redis-password-2ee0b4',
  variable: 'stored-variable-f00d17',
  webhookOfStore: 'stored-hook-b81c55',
  mcpHeader: 'stored-mcp-header-1c6e',
  agentKey: 'stored-agent-key-e05d',
  storeKey: 'sk-stored-store-58d2a4',
  toolKey: 'sk-stored-search-60e1b7',
  wrongKey: 'sk-wrong-key-a5c90173',
  token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzZWNyZXQifQ.c2lnbmF0dXJlLTU1',
} as const;

/** A configuration that has all secrets of `CONFIGURED`. Its upstreams are at one address. */
export function secretConfig(upstreamUrl: string): object {
  const modelOf = (params: object) => ({ api_base: upstreamUrl, api_key: CONFIGURED.providerKey, ...params });
  return {
    model_list: [
      { model_name: 'echo', litellm_params: modelOf({ model: 'openai/x', api_base: `${upstreamUrl}/echo` }) },
      { model_name: 'plain', litellm_params: modelOf({ model: 'openai/x' }) },
      {
        model_name: 'with-headers',
        litellm_params: modelOf({ model: 'openai/x', extra_headers: { 'x-vendor': CONFIGURED.headerOfModel } }),
      },
      {
        model_name: 'aws',
        litellm_params: {
          model: 'bedrock/x',
          api_base: upstreamUrl,
          aws_access_key_id: 'AKIA',
          aws_secret_access_key: CONFIGURED.awsSecret,
        },
      },
    ],
    general_settings: {
      master_key: CONFIGURED.masterKey,
      store_model_in_db: true,
      alert_to_webhook_url: { budget_alerts: `https://hooks.example/${CONFIGURED.alertUrl}` },
      pass_through_endpoints: [
        {
          path: '/entry',
          target: upstreamUrl,
          headers: { authorization: CONFIGURED.passThroughHeader },
          auth: true,
        },
      ],
    },
    mcp_servers: {
      tools: {
        url: `${upstreamUrl}/echo`,
        auth_type: 'bearer_token',
        auth_value: CONFIGURED.mcpToken,
        allow_all_keys: true,
      },
    },
    agents: [
      {
        agent_name: 'helper',
        agent_card_params: { url: `${upstreamUrl}/echo`, protocolVersion: '0.3' },
        static_headers: { 'x-vendor': CONFIGURED.agentHeader },
      },
    ],
    vector_store_registry: [
      {
        vector_store_name: 'texts',
        litellm_params: {
          vector_store_id: 'vs_file',
          custom_llm_provider: 'openai',
          api_base: `${upstreamUrl}/echo`,
          api_key: CONFIGURED.storeKey,
        },
      },
    ],
    search_tools: [
      {
        search_tool_name: 'web',
        litellm_params: {
          search_provider: 'perplexity',
          api_base: `${upstreamUrl}/echo`,
          api_key: CONFIGURED.searchKey,
        },
      },
    ],
    // Nothing listens at the address, so that failures of the cache are logged.
    litellm_settings: {
      cache: true,
      cache_params: { type: 'redis', host: '127.0.0.1', port: 9, password: CONFIGURED.cachePassword },
    },
    environment_variables: { LANGFUSE_SECRET_KEY: CONFIGURED.callbackKey },
  };
}
