import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { modelEntry, keyWarningOf, toDeployment } from '../../../src/runtime/settings/deployments.ts';

type Env = Readonly<Record<string, string>>;

function deployment(model: string, env: Env = {}, params: object = {}): Deployment {
  const entry = modelEntry.parse({ model_name: 'm', litellm_params: { model, ...params } });
  return { ...toDeployment(entry, { dropParams: false, env }), id: 'm' };
}

/** Address, key, options and secrets of a deployment, in plain text. */
function settingsOf(...args: Parameters<typeof deployment>) {
  const { apiBase, apiKey, options, secrets } = deployment(...args);
  const plainSecrets = Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
  return { apiBase, apiKey: apiKey?.reveal() ?? null, options, secrets: plainSecrets };
}

const NOTHING = { apiBase: null, apiKey: null, options: {}, secrets: {} };

describe('settings of a provider in the environment', () => {
  it.each([
    ['openai/x', 'OPENAI_API_KEY'],
    ['x', 'OPENAI_API_KEY'],
    ['anthropic/x', 'ANTHROPIC_API_KEY'],
    ['mistral/x', 'MISTRAL_API_KEY'],
    ['groq/x', 'GROQ_API_KEY'],
    ['deepseek/x', 'DEEPSEEK_API_KEY'],
    ['xai/x', 'XAI_API_KEY'],
    ['openrouter/a/x', 'OPENROUTER_API_KEY'],
    ['together_ai/x', 'TOGETHERAI_API_KEY'],
    ['fireworks_ai/x', 'FIREWORKS_AI_API_KEY'],
    ['perplexity/x', 'PERPLEXITYAI_API_KEY'],
    ['cerebras/x', 'CEREBRAS_API_KEY'],
    ['nvidia_nim/x', 'NVIDIA_NIM_API_KEY'],
    ['sambanova/x', 'SAMBANOVA_API_KEY'],
    ['deepinfra/x', 'DEEPINFRA_API_KEY'],
    ['moonshot/x', 'MOONSHOT_API_KEY'],
    ['huggingface/x', 'HF_TOKEN'],
  ])('include its key: %s by %s', (model, variable) => {
    expect(settingsOf(model, { [variable]: 'from-env', OTHER: 'x' })).toEqual({ ...NOTHING, apiKey: 'from-env' });
  });

  it('include its address, without a trailing slash', () => {
    const env = { HOSTED_VLLM_API_BASE: 'http://10.0.0.1:8000/v1/', HOSTED_VLLM_API_KEY: 'k' };
    expect(settingsOf('hosted_vllm/x', env)).toEqual({ ...NOTHING, apiBase: 'http://10.0.0.1:8000/v1', apiKey: 'k' });
    expect(settingsOf('openai/x', { OPENAI_API_BASE: 'http://a', OPENAI_BASE_URL: 'http://b' }).apiBase).toBe(
      'http://b',
    );
  });

  it('include the organization of OpenAI', () => {
    expect(settingsOf('openai/x', { OPENAI_ORGANIZATION: 'org-1' }).options).toEqual({ organization: 'org-1' });
    expect(settingsOf('groq/x', { OPENAI_ORGANIZATION: 'org-1' }).options).toEqual({});
  });

  it('are completed by max_tokens from the file, which must be positive', () => {
    expect(settingsOf('anthropic/x', {}, { max_tokens: 8192 }).options).toEqual({ max_tokens: '8192' });
    expect(() => settingsOf('anthropic/x', {}, { max_tokens: 0 })).toThrow('max_tokens');
  });

  it('are replaced by the file, and an empty variable has no effect', () => {
    const env = { GROQ_API_KEY: 'env', GROQ_API_BASE: 'http://env' };
    const file = { api_key: 'file', api_base: 'http://file' };
    expect(settingsOf('groq/x', env, file)).toEqual({ ...NOTHING, apiBase: 'http://file', apiKey: 'file' });
    expect(settingsOf('groq/x', { GROQ_API_KEY: '', GROQ_API_BASE: '' })).toEqual(NOTHING);
  });

  it('include a credential for AWS, which a credential in the file replaces as a whole', () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 's',
      AWS_SESSION_TOKEN: 't',
      AWS_REGION: 'eu-west-1',
    };
    expect(settingsOf('bedrock/x', env)).toEqual({
      ...NOTHING,
      options: { aws_access_key_id: 'id', aws_region_name: 'eu-west-1' },
      secrets: { aws_secret_access_key: 's', aws_session_token: 't' },
    });
    const file = { aws_access_key_id: 'other', aws_secret_access_key: 'o' };
    const envWithToken = { ...env, AWS_BEARER_TOKEN_BEDROCK: 'b' };
    expect(settingsOf('bedrock/x', envWithToken, file)).toEqual({
      ...NOTHING,
      options: { aws_access_key_id: 'other', aws_region_name: 'eu-west-1' },
      secrets: { aws_secret_access_key: 'o' },
    });
    const role = {
      aws_role_name: 'arn:r',
      aws_session_name: 'me',
      aws_external_id: 'e',
      aws_sts_endpoint: 'http://sts',
    };
    expect(settingsOf('bedrock/x', envWithToken, role)).toEqual({
      ...NOTHING,
      options: { ...role, aws_region_name: 'eu-west-1' },
    });
    expect(settingsOf('bedrock/x', envWithToken, { aws_profile_name: 'p', aws_web_identity_token: 't' })).toEqual({
      ...NOTHING,
      options: { aws_profile_name: 'p', aws_region_name: 'eu-west-1' },
      secrets: { aws_web_identity_token: 't' },
    });
    expect(settingsOf('bedrock/x', { AWS_BEARER_TOKEN_BEDROCK: 'b' }).apiKey).toBe('b');
    expect(settingsOf('openai/x', env).secrets).toEqual({});
  });

  it('include the settings of Azure: address, version, and a key or a token', () => {
    const env = { AZURE_API_BASE: 'https://a.example', AZURE_API_VERSION: '2025-01-01', AZURE_API_KEY: 'k' };
    expect(settingsOf('azure/x', env)).toEqual({
      ...NOTHING,
      apiBase: 'https://a.example',
      apiKey: 'k',
      options: { api_version: '2025-01-01' },
    });
    expect(settingsOf('azure/x', env, { azure_ad_token: 't' })).toMatchObject({
      apiKey: null,
      secrets: { azure_ad_token: 't' },
    });
  });

  it('are empty for an unknown provider', () => {
    expect(settingsOf('acme/x', { ACME_API_KEY: 'k', OPENAI_API_KEY: 'k' }, { api_base: 'http://acme' })).toEqual({
      ...NOTHING,
      apiBase: 'http://acme',
    });
  });
});

describe('the name of a model', () => {
  it.each([
    ['bedrock/converse/anthropic.claude-x', 'bedrock', 'anthropic.claude-x'],
    ['bedrock/us-east-1/anthropic.claude-x', 'bedrock', 'us-east-1/anthropic.claude-x'],
    ['azure/o_series/my-o3', 'azure', 'my-o3'],
    ['openai/converse/x', 'openai', 'converse/x'],
    ['gpt-3.5-turbo-instruct', 'text-completion-openai', 'gpt-3.5-turbo-instruct'],
    ['gpt-3.5-turbo', 'openai', 'gpt-3.5-turbo'],
  ])(
    'is split into provider and upstream model, without a prefix that selects an API: %s',
    (model, provider, upstreamModel) => {
      expect(deployment(model)).toMatchObject({ provider, upstreamModel });
    },
  );
});

describe('a key in the environment', () => {
  const env = { OPENAI_API_KEY: 'k', HOSTED_VLLM_API_KEY: 'k' };

  it('is sent to its vendor, and to no other address in the file', () => {
    expect(settingsOf('openai/x', env, { api_base: 'https://api.openai.com/v1' }).apiKey).toBe('k');
    expect(settingsOf('openai/x', env, { api_base: 'http://127.0.0.1:8000/v1' }).apiKey).toBeNull();
    expect(settingsOf('openai/x', env, { api_base: 'https://api.openai.com.example/v1' }).apiKey).toBeNull();
  });

  it('is sent to the address in the environment', () => {
    expect(settingsOf('openai/x', { ...env, OPENAI_BASE_URL: 'http://127.0.0.1:1' }).apiKey).toBe('k');
  });

  it('is sent to a self-hosted server, which has no default address', () => {
    expect(settingsOf('hosted_vllm/x', env, { api_base: 'http://127.0.0.1:8000/v1' }).apiKey).toBe('k');
  });
});

describe('the warning about the key of a deployment', () => {
  it.each([
    ['groq/x', {}, {}, { isFault: true, text: 'The model "m" has no key: set api_key, or one of GROQ_API_KEY.' }],
    [
      'openai/x',
      { OPENAI_API_KEY: 'k' },
      { api_base: 'http://127.0.0.1:8000/v1' },
      {
        isFault: false,
        text: 'The model "m" is called without a key: the key of OPENAI_API_KEY is not sent to http://127.0.0.1:8000. Set api_key if it needs one.',
      },
    ],
    ['openai/x', {}, { api_base: 'http://127.0.0.1:8000/v1' }, null],
    ['groq/x', { GROQ_API_KEY: 'k' }, {}, null],
    ['groq/x', {}, { api_key: 'k' }, null],
    ['lm_studio/x', {}, {}, null],
    ['bedrock/x', { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's' }, {}, null],
    ['bedrock/x', {}, {}, null],
    ['demo', {}, {}, null],
    ['acme/x', {}, { api_base: 'http://acme' }, null],
  ])('depends on model, variables and parameters: %s %j %j', (model, env: Env, params, warning) => {
    expect(keyWarningOf(deployment(model, env, params), env)).toEqual(warning);
  });
});
