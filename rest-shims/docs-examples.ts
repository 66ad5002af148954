import type { RouteFacts } from './http/route.ts';
import { GROUP_EXAMPLES } from './setting-group-texts.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
/** Example bodies. Other rows with a body take it from a file. */
const BODIES: Readonly<Record<string, object>> = {
  ...GROUP_EXAMPLES,
  'signIn.json': { username: 'admin', password: 'sk-...' },
  'chat.completions': { model: 'demo', messages: HELLO },
  'completions.create': { model: 'demo', prompt: 'Hello' },
  'credentials.create': {
    credential_name: 'my-credential',
    credential_values: { api_key: 'sk-...' },
    credential_info: {},
  },
  'credentials.update': { credential_values: { api_key: 'sk-...' } },
  'deployments.block': { model_id: 'my-id' },
  'deployments.create': {
    model_name: 'my-model',
    litellm_params: { model: 'openai/gpt-4o', api_key: 'sk-...' },
    model_info: { id: 'my-id' },
  },
  'deployments.delete': { id: 'my-id' },
  'deployments.patch': { litellm_params: { timeout: 30 } },
  'deployments.unblock': { model_id: 'my-id' },
  'deployments.update': { model_info: { id: 'my-id' }, litellm_params: { timeout: 30 } },
  'fallbacks.set': { model: 'gpt', fallback_models: ['claude', 'llama'] },
  'health.testConnection': { litellm_params: { model: 'openai/gpt-4o', api_key: 'sk-...' } },
  'keys.block': { key: 'sk-...' },
  'keys.delete': { keys: ['sk-...'] },
  'allowedAddresses.add': { ip: '10.0.0.0/8' },
  'allowedAddresses.delete': { ip: '10.0.0.0/8' },
  'modelAccessGroups.create': { access_group: 'beta', model_names: ['gpt'] },
  'modelAccessGroups.update': { model_names: ['gpt', 'claude'] },
  'settings.delete': { field_name: 'max_file_size_mb', config_type: 'general_settings' },
  'settings.update': { field_name: 'max_file_size_mb', field_value: 20, config_type: 'general_settings' },
  'settings.updateSections': { litellm_settings: { drop_params: true } },
  'keys.generate': { key_alias: 'my-key', duration: '30d' },
  'keys.unblock': { key: 'sk-...' },
  'lens.createTracingKey': { name: 'my-agent' },
  'lens.setSignals': { model: 'demo', threshold: 0.5 },
  'lens.createDataset': { name: 'regressions' },
  'lens.buildDataset': { sources: [{ kind: 'text', text: 'Hello' }] },
  'lens.saveDataset': { base_revision: 0, cases: [{ messages: HELLO }] },
  'lens.setFeedback': { trace_id: '5b8efff798038103d269b633813fc60c', score: 8, comment: 'Correct.' },
  'lens.feedbackSummary': { traces: [{ trace_id: '5b8efff798038103d269b633813fc60c' }] },
  'messages.countTokens': { model: 'demo', messages: HELLO },
  'messages.create': { model: 'demo', max_tokens: 64, messages: HELLO },
  'requests.countTokens': { model: 'demo', messages: HELLO },
  'traces.query': { sql: 'select name, duration_ms from traces limit 10' },
  'responses.create': { model: 'demo', input: 'Hello' },
};

/** Example body of a row; undefined where none is written. */
export const bodyExampleOf = (name: string): object | undefined => BODIES[name];

/** A curl command for a row. Path parameters are shell variables. */
export function exampleOf(
  { name, method, paths, credential }: Pick<RouteFacts, 'name' | 'method' | 'paths' | 'credential'>,
  origin: string,
): string {
  const path = paths[0].replace(/\{?[:*](\w+)\}?/g, (_all, parameter: string) => `$${parameter.toUpperCase()}`);
  const body = BODIES[name];
  return [
    'curl',
    ...(method === 'GET' || method === 'POST' ? [] : ['-X', method]),
    `"${origin}${path}"`,
    ...(credential === 'required' ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(method === 'POST' || method === 'PATCH' || method === 'PUT'
      ? ['-H "Content-Type: application/json"', body ? `-d '${JSON.stringify(body)}'` : '-d @request.json']
      : []),
  ].join(' ');
}
