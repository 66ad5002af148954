import { DomainError, InvalidInput } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../domain/json-object.ts';
import type { McpServerDefinition } from '../../domain/mcp-servers/mcp-server.ts';
import { mcpServerOf, unsupportedAuth } from '../../domain/mcp-servers/mcp-server-of.ts';
import { isMcpServerMember, MCP_MEMBER_NAMES } from '../../domain/mcp-servers/server-members.ts';
import { checkedParams, isStdioRefused, type StdioRules } from '../../domain/mcp-servers/server-params.ts';
import { assertUniqueNames } from '../../domain/mcp-servers/stored-server.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import { faultAt, type FaultReceivers, isOff, stableId } from './section-entries.ts';
import type { SettingValues } from './table.ts';

/** Section of the MCP servers in the file: a map by name. */
const SECTION = 'mcp_servers';
/** Transport of a server of the file without one: that of the reference. */
const DEFAULT_TRANSPORT = 'http';

/** MCP servers of the file, and the programs that servers may run. */
export interface McpSettings {
  readonly servers: readonly McpServerDefinition[];
  readonly stdio: StdioRules;
  /** Whether the public servers are listed. */
  readonly registry: boolean;
}

/** Rules that allow a program. A server of the file whose program may not run only causes a warning. */
const rulesAllowing = (command: unknown): StdioRules => ({ isEnabled: true, extraCommands: [String(command)] });

const NOT_SERVED = 'is not served: LENSGATE_ENABLE_MCP_STDIO is off, or does not allow the command of the server';

/** The settings of MCP servers. `values` are rows of the table of settings. */
export function readMcp(
  document: ConfigDocument,
  values: Pick<SettingValues, 'mcpStdio' | 'mcpStdioCommands' | 'mcpRegistry'>,
  receivers: FaultReceivers,
): McpSettings {
  const stdio = { isEnabled: values.mcpStdio, extraCommands: values.mcpStdioCommands };
  return { servers: readMcpServers(document, stdio, receivers), stdio, registry: values.mcpRegistry };
}

/** The MCP servers of the file; empty when one has a wrong value. `fault` receives each wrong value. */
function readMcpServers(
  document: ConfigDocument,
  stdio: StdioRules,
  { fault, faultIfStrict }: FaultReceivers,
): readonly McpServerDefinition[] {
  const at = (path: Path, message: string): ConfigFault => faultAt(document, [SECTION, ...path], message);
  let isRefused = false;
  const refuse = (path: Path, message: string): void => {
    isRefused = true;
    fault(at(path, message));
  };
  const section = document.content[SECTION];
  if (isOff(section)) return [];
  if (!isJsonObject(section)) {
    refuse([], 'is not a map of servers by name');
    return [];
  }
  const aliases = aliasesOf(document);
  for (const [server, alias] of aliases)
    if (!Object.hasOwn(section, server))
      faultIfStrict(faultAt(document, ['litellm_settings', 'mcp_aliases', alias], 'names no server of mcp_servers'));
  const declared = jsonObjectOf(document.declared[SECTION]);
  const definitions: McpServerDefinition[] = [];
  for (const [name, entry] of Object.entries(section)) {
    if (!isJsonObject(entry)) {
      refuse([name], 'is not a map of settings');
      continue;
    }
    const [known, unknown] = knownMembers(entry);
    for (const member of unknown) faultIfStrict(at([name, member], unknownMember(member, MCP_MEMBER_NAMES)));
    const declaredDefinition = definitionOf(name, known, { aliases, declared });
    const message = faultOf(declaredDefinition, entry, definitions);
    if (message !== null) {
      refuse([name], message);
      definitions.push(declaredDefinition);
      continue;
    }
    const definition = { ...declaredDefinition, params: checked(declaredDefinition.params) };
    definitions.push(definition);
    for (const [member, reason] of unserved(definition)) faultIfStrict(at([name, member], reason));
    if (isStdioRefused(definition.params, stdio)) faultIfStrict(at([name], NOT_SERVED));
  }
  return isRefused ? [] : definitions;
}

/** The known members of an entry, and the names of the unknown ones. */
function knownMembers(entry: JsonObject): readonly [known: JsonObject, unknown: readonly string[]] {
  const isKnown = (member: string): boolean => member === 'server_id' || isMcpServerMember(member);
  const known = Object.entries(entry).filter(([member]) => isKnown(member));
  return [Object.fromEntries(known), Object.keys(entry).filter((member) => !isKnown(member))];
}

/** Members that have no effect, or with which a server cannot be called, and why. */
function unserved(definition: McpServerDefinition): readonly (readonly [string, string])[] {
  const { params } = definition;
  const { auth } = mcpServerOf(definition);
  const reasons: [string, string][] = [];
  if (params['spec_path'] !== undefined)
    reasons.push(['spec_path', 'has no effect: tools are not made from OpenAPI documents']);
  if (params['env_vars'] !== undefined) reasons.push(['env_vars', 'has no effect']);
  if (auth.kind === 'unsupported') {
    const member = params['is_byok'] === true ? 'is_byok' : 'auth_type';
    reasons.push([member, `calls fail: ${unsupportedAuth(auth.authType)}`]);
  }
  return reasons;
}

const checked = (params: JsonObject): JsonObject => checkedParams(params, rulesAllowing(params['command']));

/** Why a server cannot be served; null when it can. `resolved` is its entry with the values of variables. */
function faultOf(
  { id, params }: McpServerDefinition,
  resolved: JsonObject,
  earlier: readonly McpServerDefinition[],
): string | null {
  try {
    const { server_id: _id, ...known } = knownMembers(resolved)[0];
    checked({ ...params, ...known });
    if (params['auth_type'] === 'oauth2' && params['oauth2_flow'] === undefined && !delegates(params))
      throw new InvalidInput('oauth2_flow must be authorization_code or client_credentials');
    if (earlier.some((one) => one.id === id)) throw new InvalidInput('has the server_id of another server');
    assertUniqueNames({ id, params: checked(params) }, earlier);
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const [issue] = error instanceof InvalidInput ? error.issues : [];
    if (issue === undefined) return error.message;
    return `${issue.path.slice(1).join('.')} ${issue.message}`.trim();
  }
}

const delegates = (params: JsonObject): boolean => params['delegate_auth_to_upstream'] === true;

/** A server of the file. Its params are as written: references stay unresolved, so that no list shows their values. */
function definitionOf(
  name: string,
  entry: JsonObject,
  { aliases, declared }: { readonly aliases: ReadonlyMap<string, string>; readonly declared: JsonObject },
): McpServerDefinition {
  const written = jsonObjectOf(declared[name]);
  const known = Object.keys(entry).filter((member) => member !== 'server_id');
  const params = Object.fromEntries(known.map((member) => [member, written[member] ?? entry[member]]));
  const alias = params['alias'] ?? aliases.get(name);
  return {
    id: typeof entry['server_id'] === 'string' ? entry['server_id'] : stableId(['mcp server', name]),
    params: {
      ...params,
      server_name: name,
      transport: params['transport'] ?? (typeof params['command'] === 'string' ? 'stdio' : DEFAULT_TRANSPORT),
      ...(alias === undefined ? {} : { alias }),
    },
    isFromConfig: true,
    createdAt: null,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
  };
}

/** Aliases of `litellm_settings.mcp_aliases`, by name of the server. The first alias of a server applies. */
function aliasesOf({ content }: ConfigDocument): ReadonlyMap<string, string> {
  const aliases = Object.entries(jsonObjectOf(jsonObjectOf(content['litellm_settings'])['mcp_aliases']));
  const byServer = new Map<string, string>();
  for (const [alias, server] of aliases)
    if (typeof server === 'string' && !byServer.has(server)) byServer.set(server, alias);
  return byServer;
}
