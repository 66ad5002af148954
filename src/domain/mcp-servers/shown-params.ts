import { type JsonObject, isJsonObject, jsonObjectOf } from '../json-object.ts';
import { isReference, REDACTED, redacted } from '../settings/redaction.ts';
import type { McpServerDefinition } from './mcp-server.ts';

/**
 * Who reads a server: an administrator, a key of a user, or a key without a user. None of them sees secrets. Users see
 * the members of `FOR_USERS`, and keys without a user those of `FOR_KEYS`.
 */
export type McpServerReader = 'admin' | 'user' | 'key';

/** Maps whose texts are secrets, whatever their names are. */
const SECRET_MAPS: ReadonlySet<string> = new Set(['credentials', 'static_headers', 'env']);

/** Members without secrets: their names, or the names of tools in them, may look like names of secrets. */
const WITHOUT_SECRETS: ReadonlySet<string> = new Set([
  'byok_api_key_help_url',
  'tool_name_to_display_name',
  'tool_name_to_description',
  'allowed_params',
]);

/** All but addresses, programs, headers and credentials. */
const FOR_USERS: readonly string[] = [
  'server_name',
  'alias',
  'description',
  'instructions',
  'transport',
  'auth_type',
  'oauth2_flow',
  'mcp_info',
  'teams',
  'mcp_access_groups',
  'allowed_tools',
  'disallowed_tools',
  'tool_name_to_display_name',
  'tool_name_to_description',
  'allow_all_keys',
  'available_on_public_internet',
  'is_byok',
  'byok_description',
  'byok_api_key_help_url',
  'timeout',
  'max_concurrent_requests',
  'rpm',
  'approval_status',
  'submitted_by',
  'submitted_at',
  'reviewed_at',
  'review_notes',
];
/** What a server is for, and how it is reached. */
const FOR_KEYS: readonly string[] = [
  'server_name',
  'alias',
  'description',
  'instructions',
  'transport',
  'auth_type',
  'mcp_info',
  'allow_all_keys',
  'available_on_public_internet',
  'is_byok',
];

/** A secret as it is shown. References and empty texts are no secrets. */
const hidden = (value: unknown): unknown =>
  typeof value !== 'string' || value === '' || isReference(value) ? value : REDACTED;

const hiddenTexts = (value: unknown): JsonObject =>
  Object.fromEntries(Object.entries(jsonObjectOf(value)).map(([name, inner]) => [name, hidden(inner)]));

/** One variable of `env_vars`, with its value hidden. */
const shownVariable = (variable: unknown): unknown =>
  isJsonObject(variable) && 'value' in variable ? { ...variable, value: hidden(variable['value']) } : variable;

function shownMember(name: string, value: unknown): unknown {
  if (WITHOUT_SECRETS.has(name)) return value;
  if (SECRET_MAPS.has(name)) return hiddenTexts(value);
  if (name === 'env_vars' && Array.isArray(value)) return value.map(shownVariable);
  return redacted(name, value, 'admin');
}

/** Whether everyone may see the server, also without a key. */
export const isPublic = ({ params }: McpServerDefinition): boolean =>
  jsonObjectOf(params['mcp_info'])['is_public'] === true;

function readableMembers(definition: McpServerDefinition, reader: McpServerReader): JsonObject {
  const { params } = definition;
  if (reader === 'admin') return params;
  const names = reader === 'user' ? FOR_USERS : FOR_KEYS;
  const known = Object.fromEntries(names.flatMap((name) => (name in params ? [[name, params[name]]] : [])));
  return reader === 'user' ? known : { ...known, mcp_info: isPublic(definition) ? { is_public: true } : null };
}

/** A server as a reader may see it. Secrets are redacted for everyone. */
export function shownServer(definition: McpServerDefinition, reader: McpServerReader): McpServerDefinition {
  const members = Object.entries(readableMembers(definition, reader));
  const params = Object.fromEntries(members.map(([name, value]) => [name, shownMember(name, value)]));
  if (reader !== 'key') return { ...definition, params };
  return { ...definition, params, createdAt: null, createdBy: null, updatedAt: null, updatedBy: null };
}
