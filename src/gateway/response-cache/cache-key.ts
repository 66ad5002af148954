import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { repeatedName } from '../../domain/guardrails/texts/repeated-names.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import type { AnswerCache } from '../../domain/response-cache/response-cache.ts';
import type { CacheScope, CacheSettings } from '../../domain/response-cache/cache-settings.ts';

/** Endpoints whose answers can be cached. Other endpoints have the same call types, so the call type is not enough. */
const CACHEABLE_PATHS: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/completions',
  '/embeddings',
  '/responses',
  '/messages',
]);

/** Part of each key. Increase it when the parts of a key change, so that older entries are no longer found. */
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
    CACHEABLE_PATHS.has(endpoint.path) &&
    credentials === null &&
    request.deploymentId === undefined &&
    request.mockResponse === undefined &&
    request.form === undefined &&
    (request.typed !== true || (!request.stream && endpoint.dialect === 'chat-completions')) &&
    // The upstream adds each turn to a conversation, which changes the next answer.
    (request.body['conversation'] ?? null) === null &&
    hasFewMessages(settings, request) &&
    // Where the body has a member twice, the upstream may read another value than the value in the key.
    repeatedName(request.bytes, 1) === null
  );
}

/** Whether a call has at most `maxMessages`. True for calls that are no conversations. */
function hasFewMessages({ maxMessages }: CacheSettings, { endpoint: { input }, body }: ModelRequest): boolean {
  if (maxMessages === null || (input.form !== 'messages' && input.form !== 'items')) return true;
  const messages = body[input.member];
  return !Array.isArray(messages) || messages.length <= maxMessages;
}

/**
 * The callers that share an entry: a kind, and an id for all kinds but `all`. An answer with an id for later requests
 * is for its key only, because other keys may not use the id. An answer of a deployment of a team is for the team only,
 * because the model name may mean another model outside of the team. With the scope `team`, keys without a team share
 * by user.
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
 * Body members that affect the answer, sorted by name. `metadata` is among them for the Responses API only, whose
 * answers repeat it.
 */
function membersOf({ body, endpoint }: ModelRequest): readonly (readonly [string, unknown])[] {
  const skipsMetadata = endpoint.dialect !== 'responses';
  return Object.keys(body)
    .filter((name) => name === 'drop_params' || !isGatewayField(name))
    .filter((name) => name !== 'model' && name !== 'stream' && !(skipsMetadata && name === 'metadata'))
    .toSorted()
    .map((name) => [name, body[name]] as const);
}

/** Cache key of a call: the namespace, and the SHA-256 of everything that affects the answer. */
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
  const {
    endpoint,
    model,
    answerModel,
    stream,
    includeUsage,
    region = null,
    forwarded = {},
    followUp,
    cache,
  } = request;
  const namespace = cache?.namespace ?? settings.namespace;
  const parts = [
    KEY_VERSION,
    namespace,
    sharedBy(settings.scope, caller, { isReferable: followUp !== undefined, ownerTeam: deployment.teamId }),
    [endpoint.path, model, stream, includeUsage, region, ...(answerModel === undefined ? [] : [answerModel])],
    Object.entries(forwarded).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    membersOf(request),
  ];
  const hash = digest(JSON.stringify(parts));
  return namespace === null ? hash : `${namespace}:${hash}`;
}
