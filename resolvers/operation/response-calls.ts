import type { FollowUp, ModelRequest } from '../../src/domain/chat/chat.ts';
import { RESPONSES } from '../../src/domain/inference/endpoint.ts';
import type { RequestBody } from '../../src/domain/inference/request-validation.ts';
import { inputItemsOf, listedItems } from '../../src/domain/responses/items.ts';
import type { ResponseItem, StoredResponse } from '../../src/domain/responses/stored-response.ts';
import { isOwnResponseId, type UpstreamResponse, ownResponseId } from '../../src/domain/responses/response-ids.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { backgroundObserver } from './background-responses.ts';
import { isAvailable } from './deleted-responses.ts';
import { containerRecorder, refersToUpstream, withContainers } from './named-containers.ts';
import { assertMayNameStores, withStoresOfIndexes } from './named-stores.ts';
import { mayUseObject, objectOwnerOf } from './object-owners.ts';
import { callerOf } from './operation.ts';
import { resolveReferences, noPrevious } from './response-context.ts';
import type { ResponsePlatform } from './platform.ts';
import { withPrompt } from './prompted.ts';
import type { Scope } from './scope.ts';

/**
 * As `createResponse`, without its access rule. With `keep: false` the answer is not stored, because no later request
 * refers to it.
 */
export const askForResponse = async (
  scope: Scope<ResponsePlatform>,
  request: ModelRequest,
  how: { readonly keep: boolean },
): Promise<GatewayCall> => (await askWithItems(scope, request, how)).call;

/**
 * Requests a response. Returns the call, and the own items of the request: with references resolved, and as guardrails
 * have edited them.
 */
export async function askWithItems(
  scope: Scope<ResponsePlatform>,
  request: ModelRequest,
  {
    keep,
    from = null,
  }: {
    readonly keep: boolean;
    /** Id of a previous response whose items are in the request already; none when absent. */
    readonly from?: string | null;
  },
): Promise<{ readonly call: GatewayCall; readonly items: readonly ResponseItem[] }> {
  const resolved = await resolveReferences(scope, withUpstreamPrevious(scope, withPrompt(scope, request)));
  const { items, previousId } = resolved;
  await assertMayUseTools(scope, request);
  const named = await withContainers(scope, resolved.request);
  const placed = withStoresOfIndexes(scope, named.request);
  const namesOthers = named.namesUnknown || mayRunElsewhere(scope, { sent: request, resolved: resolved.request });
  const answerIds = followUpOf(scope, { sent: request, previousId: from ?? previousId, namesOthers });
  const isStored =
    keep &&
    request.endpoint === RESPONSES &&
    request.body['store'] !== false &&
    scope.platform.responses.queue.mayStore(request.bytes.length);
  // The own items are the last ones of the input. Guardrails may edit items, but add and remove none.
  const ownItemsOf = (body: RequestBody): readonly ResponseItem[] =>
    inputItemsOf(body).slice(inputItemsOf(resolved.request.body).length - items.length);
  const store = storeAnswer(scope, { id: answerIds.ownId, previousId, ownItemsOf });
  const onContainers = containerRecorder(scope, objectOwnerOf(callerOf(scope)), {
    body: resolved.request.body,
    namesOthers,
  });
  const background = backgroundObserver(scope, request);
  const shown = {
    ...answerIds,
    onContainers,
    ...(background === null ? {} : { onBackground: background.onBackground }),
  };
  const followUp = isStored ? { ...shown, store, isAvailable: (id: string) => isAvailable(scope, id) } : shown;
  const answered = await scope.platform.gateway.call(callerOf(scope), { ...placed, followUp }, scope.signal);
  const call = background === null ? answered : background.observed(answered);
  return { call, items: call.editedBody === undefined ? items : ownItemsOf(call.editedBody) };
}

/** Checks the rights to the vector stores of `file_search` tools. Throws Forbidden. */
export async function assertMayUseTools(scope: Scope<ResponsePlatform>, { body, labels }: ModelRequest): Promise<void> {
  const { tools } = body;
  if (Array.isArray(tools) && tools.length > 0) await assertMayNameStores(scope, { path: '', body: { tools }, labels });
}

/** Ids of the answer for this caller. */
function followUpOf(
  scope: Scope<ResponsePlatform>,
  {
    sent,
    previousId,
    namesOthers,
  }: { readonly sent: ModelRequest; readonly previousId: string | null; readonly namesOthers: boolean },
): FollowUp {
  const { responses, ids } = scope.platform;
  const owner = objectOwnerOf(callerOf(scope));
  const { previous_response_id: sentId } = sent.body;
  const previous = typeof sentId === 'string' ? responses.ids.open(sentId) : null;
  const shownIds = new Map(previous === null ? [] : [[previous.upstreamId, String(sentId)]]);
  return {
    ownId: ownResponseId(ids.uuid()),
    previousId,
    shownId(deploymentId, upstreamId) {
      // Several events of one answer repeat its id.
      const response = { deploymentId, upstreamId, owner, ...(namesOthers ? { namesOthers } : {}) };
      const shownId = shownIds.get(upstreamId) ?? responses.ids.seal(response);
      shownIds.set(upstreamId, shownId);
      return shownId;
    },
  };
}

/**
 * Returns a function that stores the answer and the own items of its request. `previousId` is the id of a stored
 * response or null.
 */
function storeAnswer(
  scope: Scope<ResponsePlatform>,
  {
    id,
    previousId,
    ownItemsOf,
  }: Pick<StoredResponse, 'id' | 'previousId'> & {
    readonly ownItemsOf: (body: RequestBody) => readonly ResponseItem[];
  },
): NonNullable<FollowUp['store']> {
  const owner = objectOwnerOf(callerOf(scope));
  return (response, body) =>
    scope.platform.responses.queue.enqueue({
      id,
      previousId,
      owner,
      createdAt: scope.platform.clock.now(),
      input: listedItems(ownItemsOf(body), id),
      response,
    });
}

/**
 * The request with the upstream's id of its previous response, when an upstream stores that response. With
 * `idSecurity`, throws InvalidInput for an id that the caller may not use.
 */
export function withUpstreamPrevious(scope: Scope<ResponsePlatform>, request: ModelRequest): ModelRequest {
  const previous = request.body['previous_response_id'];
  if (typeof previous !== 'string' || isOwnResponseId(previous)) return request;
  const upstream = upstreamOf(scope, previous);
  if (upstream !== null) {
    const named = { previous_response_id: upstream.upstreamId };
    const replaced = { ...request.replaced, ...named };
    return { ...request, body: { ...request.body, ...named }, replaced, deploymentId: upstream.deploymentId };
  }
  // Without `idSecurity` a client may send the upstream's own id.
  if (!scope.platform.responses.idSecurity) return request;
  throw noPrevious(previous);
}

/**
 * Whether the upstream may run a response in a container of another caller that the request does not name. It may
 * continue a response of which no sealed id shows that the caller may see it, which is possible without `idSecurity`
 * only. It may continue a response that may have run in such a container, or an item or a conversation.
 */
function mayRunElsewhere(
  scope: Scope<ResponsePlatform>,
  { sent, resolved }: { readonly sent: ModelRequest; readonly resolved: ModelRequest },
): boolean {
  if (refersToUpstream(resolved.body)) return true;
  if ((resolved.body['previous_response_id'] ?? null) === null) return false;
  const { previous_response_id: previous } = sent.body;
  const upstream = typeof previous === 'string' ? scope.platform.responses.ids.open(previous) : null;
  if (upstream === null || upstream.namesOthers === true) return true;
  return !mayUseObject(callerOf(scope), upstream.owner);
}

/**
 * The upstream response of a sealed id, which is the encrypted id and owner of that response. Null for another id. With
 * `idSecurity`, also null when the caller may not see the response.
 */
export function upstreamOf(scope: Scope<ResponsePlatform>, id: string): UpstreamResponse | null {
  const { ids, idSecurity } = scope.platform.responses;
  const upstream = ids.open(id);
  if (upstream === null || !idSecurity) return upstream;
  return mayUseObject(callerOf(scope), upstream.owner) ? upstream : null;
}
