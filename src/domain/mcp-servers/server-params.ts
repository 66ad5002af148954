import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../json-object.ts';
import { PREFIX_SEPARATOR } from '../mcp/tool-names.ts';
import { isReference, withKeptSecrets } from '../settings/redaction.ts';
import { MCP_TRANSPORTS } from './mcp-server.ts';
import { usualMembers } from './server-members.ts';

/** Values of `auth_type`. */
export const MCP_AUTH_TYPES = [
  'none',
  'api_key',
  'bearer_token',
  'basic',
  'authorization',
  'token',
  'oauth2',
  'oauth2_token_exchange',
  'oauth2_id_jag',
  'true_passthrough',
  'oauth_delegate',
  'aws_sigv4',
] as const;
export const MCP_OAUTH_FLOWS = ['authorization_code', 'client_credentials'] as const;

/** Programs that stdio servers may run. */
export interface StdioRules {
  readonly isEnabled: boolean;
  /** Programs besides the usual ones. */
  readonly extraCommands: readonly string[];
}

const STDIO_COMMANDS: readonly string[] = ['npx', 'uvx', 'python', 'python3', 'node', 'docker', 'deno'];
/** Types of authentication that pass the token of the caller through. */
const PASS_THROUGH_TYPES: ReadonlySet<unknown> = new Set(['true_passthrough', 'oauth_delegate']);
const MAX_NAME_CHARACTERS = 256;
const REFUSED_IN_NAMES = /[\p{Cc}\p{Cs},/]/u;

const valueError = (message: string): InvalidInput =>
  new InvalidInput(message, [{ path: ['body'], rule: 'value_error', message: `Value error, ${message}` }]);

function assertChoice(params: JsonObject, name: string, choices: readonly string[]): void {
  const value = params[name];
  if (value === undefined || choices.includes(value as string)) return;
  const expected = choices.map((choice) => `'${choice}'`).join(', ');
  const message = `Input should be one of ${expected}`;
  throw new InvalidInput('The MCP server is not valid.', [{ path: ['body', name], rule: 'enum', message }]);
}

/** Throws InvalidInput for a name that cannot be a prefix of tools or a part of a path. */
function assertName(what: string, value: unknown): void {
  if (typeof value !== 'string') return;
  if (value.trim() === '') throw new InvalidInput(`${what} must not be blank.`);
  if (value.includes(PREFIX_SEPARATOR))
    throw new InvalidInput(
      `${what} must not contain '${PREFIX_SEPARATOR}', which separates names of servers and tools. Found: ${value}`,
    );
  if (value.length > MAX_NAME_CHARACTERS || REFUSED_IN_NAMES.test(value))
    throw new InvalidInput(
      `${what} must have at most ${MAX_NAME_CHARACTERS} characters, no comma, no slash and no control character.`,
    );
}

function assertAddress(name: string, value: unknown): void {
  if (typeof value !== 'string' || isReference(value)) return;
  const protocol = URL.canParse(value) ? new URL(value).protocol : null;
  if (protocol !== 'http:' && protocol !== 'https:') throw valueError(`${name} must be an http or https address`);
}

function assertStdio(params: JsonObject, { isEnabled, extraCommands }: StdioRules): void {
  if (!isEnabled)
    throw valueError('stdio MCP servers are disabled. Set LENSGATE_ENABLE_MCP_STDIO=true and restart to enable them');
  const { command } = params;
  if (typeof command !== 'string' || command === '') throw valueError('command is required for the transport stdio');
  const allowed = [...STDIO_COMMANDS, ...extraCommands];
  if (!allowed.includes(command)) throw valueError(`command must be one of ${allowed.join(', ')}`);
}

/** Whether the rules do not allow the program of a server, which one of the configuration file may have. */
export function isStdioRefused({ transport, command }: JsonObject, { isEnabled, extraCommands }: StdioRules): boolean {
  const isAllowed = isEnabled && [...STDIO_COMMANDS, ...extraCommands].includes(String(command));
  return transport === 'stdio' && !isAllowed;
}

const withoutNulls = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

/** The alias of a server that is configured without one: its name, without spaces. */
export const aliasFrom = (name: string): string => name.trim().replaceAll(/\s+/g, '_');

/**
 * The params of a server, checked. Null values are left out, and the alias is derived from the name where it is absent.
 * Throws InvalidInput for params with which a server cannot run.
 */
export function checkedParams(sent: JsonObject, stdio: StdioRules): JsonObject {
  const params = withoutNulls(usualMembers(sent));
  const { credentials, ...others } = params;
  const { server_name: name, alias, transport, auth_type: authType } = params;
  assertChoice(params, 'transport', MCP_TRANSPORTS);
  assertChoice(params, 'auth_type', MCP_AUTH_TYPES);
  assertChoice(params, 'oauth2_flow', MCP_OAUTH_FLOWS);
  assertName('The server name', name);
  assertName('The alias', alias);
  if (transport === 'stdio') assertStdio(params, stdio);
  else if (transport !== undefined && params['url'] === undefined && params['spec_path'] === undefined)
    throw valueError(`url is required for the transport ${transport as string}`);
  for (const address of ['url', 'token_url', 'authorization_url', 'registration_url'])
    assertAddress(address, params[address]);
  if (params['dcr_bridge'] === true && !PASS_THROUGH_TYPES.has(authType))
    throw new InvalidInput('dcr_bridge requires the auth_type true_passthrough or oauth_delegate.');
  const kept = isJsonObject(credentials) ? withoutNulls(credentials) : {};
  const isAliasDerived = typeof name === 'string' && alias === undefined;
  return {
    ...others,
    ...(isAliasDerived ? { alias: aliasFrom(name) } : {}),
    ...(Object.keys(kept).length === 0 ? {} : { credentials: kept }),
  };
}

/**
 * Params with changes applied. Null removes a member, and a redacted secret keeps its stored value. Sent credentials
 * are merged into the stored ones, or replace them when the `auth_type` changes. Throws InvalidInput.
 */
export function changedParams(before: JsonObject, changes: JsonObject, stdio: StdioRules): JsonObject {
  const sent = withKeptSecrets(usualMembers(changes), before);
  const isSameType = !Object.hasOwn(sent, 'auth_type') || sent['auth_type'] === before['auth_type'];
  const credentials =
    isJsonObject(sent['credentials']) && isSameType
      ? { credentials: { ...jsonObjectOf(before['credentials']), ...sent['credentials'] } }
      : {};
  return checkedParams({ ...before, ...sent, ...credentials }, stdio);
}
