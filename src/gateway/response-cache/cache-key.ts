import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { repeatedName } from '../../domain/guardrails/texts/repeated-names.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import type { AnswerCache } from '../../domain/response-cache/response-cache.ts';
import type { CacheScope, CacheSettings } from '../../domain/response-cache/cache-settings.ts';

/** Endpoints whose answers can be cached. Others have the same call types in other dialects. */
const PATHS: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/completions',
  '/embeddings',
  '/responses',
  '/messages',
]);

/** Version of the keys. A change of what a key depends on changes it. */
const KEY_VERSION = 1;

/**
 * Whether a call may use the cache. Calls that are bound to one upstream account, and mock answers, may not. Of calls
 * whose deltas are read, whole chat completions may: their deltas are read from the stored bytes.
 */
export function isCacheable(settings: CacheSettings, request: ModelRequest): boolean {
  const { endpoint, cache, credentials = null } = request;
  return (
    (cache?.use ?? settings.mode === 'default_on') &&
    settings.callTypes.has(endpoint.callType) &&
    PATHS.has(endpoint.path) &&
    credentials === null &&
    request.deploymentId === undefined &&
    request.mockResponse === undefined &&
    request.form === undefined &&
    (request.typed !== true || (!request.stream && endpoint.dialect === 'chat-completions')) &&
    // The upstream adds each turn to a conversation, which changes the next answer.
    (request.body['conversation'] ?? null) === null &&
    isShort(settings, request) &&
    // Parsers differ in which of two equal members they use, so the upstream may answer another request than the key
    // describes.
    repeatedName(request.bytes, 1) === null
  );
}

/** Whether a conversation has few enough messages. */
function isShort({ maxMessages }: CacheSettings, { endpoint: { input }, body }: ModelRequest): boolean {
  if (maxMessages === null || (input.form !== 'messages' && input.form !== 'items')) return true;
  const messages = body[input.member];
  return !Array.isArray(messages) || messages.length <= maxMessages;
}

/**
 * Who shares an entry. An answer that callers refer to by its id later belongs to the key that may use the id. An
 * answer of a deployment of a team stays in the team: its model name may be another model elsewhere.
 */
function sharedBy(
  scope: CacheScope,
  { teamId, userId, keyHash }: Caller,
  { isReferable, ownerTeam }: { readonly isReferable: boolean; readonly ownerTeam: string | undefined },
): readonly string[] {
  if (isReferable || scope === 'key') return ['key', keyHash];
  if (scope === 'all') return ownerTeam === undefined ? ['all'] : ['team', ownerTeam];
  const team = nullIfBlank(teamId);
  if (team !== null) return ['team', team];
  const user = nullIfBlank(userId);
  return user === null ? ['key', keyHash] : ['user', user];
}

/**
 * Members that change the answer, in the order of their names. The metadata of a request is part of the answer of the
 * Responses API only.
 */
function membersOf({ body, endpoint }: ModelRequest): readonly (readonly [string, unknown])[] {
  const skipsMetadata = endpoint.dialect !== 'responses';
  return Object.keys(body)
    .filter((name) => name === 'drop_params' || !isGatewayField(name))
    .filter((name) => name !== 'model' && name !== 'stream' && !(skipsMetadata && name === 'metadata'))
    .toSorted()
    .map((name) => [name, body[name]] as const);
}

/** Key of a call: its namespace, then the SHA-256 of everything that the answer depends on. */
export function cacheKeyOf(
  { digest }: Pick<AnswerCache, 'digest'>,
  {
    settings,
    caller,
    request,
    deployment,
  }: {
    readonly settings: CacheSettings;
    readonly caller: Caller;
    readonly request: ModelRequest;
    readonly deployment: Pick<Deployment, 'teamId'>;
  },
): string {
  const { endpoint, model, stream, includeUsage, region = null, forwarded = {}, followUp, cache } = request;
  const namespace = cache?.namespace ?? settings.namespace;
  const parts = [
    KEY_VERSION,
    namespace,
    sharedBy(settings.scope, caller, { isReferable: followUp !== undefined, ownerTeam: deployment.teamId }),
    [endpoint.path, model, stream, includeUsage, region],
    Object.entries(forwarded).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    membersOf(request),
  ];
  const hash = digest(JSON.stringify(parts));
  return namespace === null ? hash : `${namespace}:${hash}`;
}
