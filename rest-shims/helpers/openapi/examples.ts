import type { RouteFacts } from '../http/route.ts';
import type { JsonSchema } from '../http/schema.ts';
import { GROUP_EXAMPLES } from './setting-group-descriptions.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];

/** Handwritten example bodies. Other examples are generated from the schema. */
const BODY_EXAMPLES: Readonly<Record<string, object>> = {
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
  'teamMembers.resetSpend': { reset_to: 0 },
  'teamKeys.update': { team_id: 'my-team', all_keys_in_team: true, update_fields: { max_budget: 10 } },
  'teamLogging.addCallback': {
    callback_name: 'langfuse',
    callback_type: 'success_and_failure',
    callback_vars: { langfuse_public_key: 'pk-...', langfuse_secret_key: 'sk-...' },
  },
  'allowedAddresses.add': { ip: '10.0.0.0/8' },
  'allowedAddresses.delete': { ip: '10.0.0.0/8' },
  'modelAccessGroups.create': { access_group: 'beta', model_names: ['gpt'] },
  'modelAccessGroups.update': { model_names: ['gpt', 'claude'] },
  'settings.delete': { field_name: 'max_file_size_mb', config_type: 'general_settings' },
  'settings.update': { field_name: 'max_file_size_mb', field_value: 20, config_type: 'general_settings' },
  'settings.updateSections': { litellm_settings: { drop_params: true } },
  'keys.generate': { key_alias: 'my-key', duration: '30d' },
  'keys.resetSpend': { reset_to: 0 },
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
  'tokenMappings.create': { jwt_claim_name: 'client_id', jwt_claim_value: 'my-client', key: 'sk-...' },
  'tokenMappings.update': { id: 'my-id', is_active: false },
  'traces.query': { sql: 'select name, duration_ms from traces limit 10' },
  'responses.create': { model: 'demo', input: 'Hello' },
};

type BodyFacts = Pick<RouteFacts, 'name' | 'bodySchema' | 'bodyType'>;

/**
 * Example body of a row: written by hand, else generated from the schema. Undefined for a row that has neither an
 * example nor a schema with members.
 */
export function bodyExample({ name, bodySchema }: Pick<BodyFacts, 'name' | 'bodySchema'>): unknown {
  const example = BODY_EXAMPLES[name];
  if (example !== undefined) return example;
  const isDescribed = bodySchema !== undefined && Object.keys(bodySchema).length > 0;
  return isDescribed ? sampleValue(bodySchema, 'value') : undefined;
}

/** A value that fits a schema. Objects have their required members only. `name` is the member that has the schema. */
function sampleValue(schema: JsonSchema, name: string): unknown {
  const { type, enum: choices, const: fixed, items, anyOf, properties = {}, required = [] } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices)) return choices[0];
  if (Array.isArray(anyOf) && type === undefined) return sampleValue(anyOf[0] as JsonSchema, name);
  // `type` may be a list: the first type is taken.
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (required as readonly string[]).map((member) => [
          member,
          sampleValue((properties as Readonly<Record<string, JsonSchema>>)[member] ?? {}, member),
        ]),
      );
    case 'array':
      // An item of `tags` is `my-tag`.
      return [sampleValue((items ?? {}) as JsonSchema, name.replace(/s$/, ''))];
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'string':
      return name === 'model' ? 'demo' : `my-${name.replaceAll('_', '-')}`;
    default:
      return {};
  }
}

/** Arguments of curl for the body of a row. */
function bodyArguments(row: BodyFacts): readonly string[] {
  const { bodySchema, bodyType } = row;
  if (bodyType === 'multipart/form-data') {
    const required = (bodySchema?.['required'] ?? []) as readonly string[];
    return required.map((name) => `-F ${name}=${FILE_MEMBERS.has(name) ? '@file' : '...'}`);
  }
  const body = bodyExample(row);
  if (bodyType === 'application/x-www-form-urlencoded')
    return [`-d '${new URLSearchParams(body as Record<string, string>).toString()}'`];
  if (bodySchema === undefined && body === undefined) return [];
  const content = body === undefined ? '-d @request.json' : `-d '${JSON.stringify(body)}'`;
  return ['-H "Content-Type: application/json"', content];
}

/** Members of a form that are files. */
const FILE_MEMBERS = new Set(['file', 'image', 'images']);

/** Shell variable for a path parameter. `$KEY` is reserved for the credential. */
const shellVariable = (parameter: string): string => `$${parameter === 'key' ? 'KEY_ID' : parameter.toUpperCase()}`;

/** A curl command for a row. Path parameters are shell variables; the query has required parameters only. */
export function curlExample(
  row: BodyFacts & Pick<RouteFacts, 'method' | 'paths' | 'credential' | 'querySchema'>,
  origin: string,
): string {
  const { method, paths, credential, querySchema } = row;
  const path = paths[0].replace(/\{?[:*](\w+)\}?/g, (_all, parameter: string) => shellVariable(parameter));
  const requiredNames = (querySchema?.['required'] ?? []) as readonly string[];
  const search = requiredNames
    .map((name) => `${encodeURIComponent(name)}=${queryValue(querySchema ?? {}, name)}`)
    .join('&');
  const hasBody = method !== 'GET' && (method !== 'DELETE' || row.bodySchema !== undefined);
  return [
    'curl',
    ...(method === 'GET' || method === 'POST' ? [] : ['-X', method]),
    // With a body, curl sends a POST by itself.
    ...(method === 'POST' && bodyArguments(row).length === 0 ? ['-X POST'] : []),
    `"${origin}${path}${search === '' ? '' : `?${search}`}"`,
    ...(credential === 'required' ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(hasBody ? bodyArguments(row) : []),
  ].join(' ');
}

function queryValue({ properties = {} }: JsonSchema, name: string): string {
  // All required filters are times, such as `filter[startTime][gte]`.
  if (name.endsWith('_date') || name.startsWith('filter[')) return '2026-01-31';
  return encodeURIComponent(
    String(sampleValue((properties as Readonly<Record<string, JsonSchema>>)[name] ?? {}, name)),
  );
}
