import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import type { FollowUp, ModelRequest } from '../src/domain/chat/chat.ts';
import { Forbidden, InvalidInput } from '../src/domain/errors.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import { type ItemPage, itemPage, listedItems } from '../src/domain/responses/items.ts';
import type { ResponseItem, StoredResponse } from '../src/domain/responses/stored-response.ts';
import { isOwnResponseId, type UpstreamResponse, ownResponseId } from '../src/domain/responses/response-ids.ts';
import {
  CANCEL_RESPONSE,
  DELETE_RESPONSE,
  GET_RESPONSE,
  LIST_RESPONSE_ITEMS,
  type ObjectAction,
} from '../src/domain/upstream-objects/object-action.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey, objectReader, objectWriter, system } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import { resolveReferences, noPrevious, findStored } from './operation/response-context.ts';
import { type CallFacts, noObject, pass, placeOf } from './operation/upstream-objects.ts';
import type { ResponsePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/**
 * Requests a response. References to stored responses and items are resolved first; with `idSecurity`, only for callers
 * that may see them. A translated answer is stored when it is complete, unless the request disables storage or the
 * queue of responses to store cannot take the answer.
 */
export const createResponse = operation({
  name: 'createResponse',
  access: anyKey,
  run: (scope: Scope<ResponsePlatform>, request: ModelRequest): Promise<GatewayCall> =>
    askForResponse(scope, request, { keep: true }),
});

/**
 * As `createResponse`, without its access rule. With `keep: false` the answer is not stored, because no later request
 * refers to it.
 */
export const askForResponse = async (
  scope: Scope<ResponsePlatform>,
  request: ModelRequest,
  how: { readonly keep: boolean },
): Promise<GatewayCall> => (await askWithItems(scope, request, how)).call;

/** Requests a response. Returns the call, and the own items of the request with references resolved. */
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
  const { request: sent, items, previousId } = await resolveReferences(scope, withUpstreamPrevious(scope, request));
  const answerIds = followUpOf(scope, from ?? previousId);
  const isStored =
    keep &&
    request.endpoint === RESPONSES &&
    request.body['store'] !== false &&
    scope.platform.responses.queue.mayStore(request.bytes.length);
  const store = storeAnswer(scope, { id: answerIds.ownId, previousId, items });
  const followUp = isStored ? { ...answerIds, store } : answerIds;
  const call = await scope.platform.gateway.call(callerOf(scope), { ...sent, followUp }, scope.signal);
  return { call, items };
}

/** Ids of the answer for this caller. */
function followUpOf(scope: Scope<ResponsePlatform>, previousId: string | null): FollowUp {
  const { responses, ids } = scope.platform;
  const owner = ownerOf(callerOf(scope));
  const shown = new Map<string, string>();
  return {
    ownId: ownResponseId(ids.uuid()),
    previousId,
    shownId(deploymentId, upstreamId) {
      // Several events of one answer repeat its id.
      const known = shown.get(upstreamId) ?? responses.ids.seal({ deploymentId, upstreamId, owner });
      shown.set(upstreamId, known);
      return known;
    },
  };
}

/** A function that stores the answer to these items. `previousId` is the id of a stored response; null for none. */
function storeAnswer(
  scope: Scope<ResponsePlatform>,
  { id, previousId, items }: Pick<StoredResponse, 'id' | 'previousId'> & { readonly items: readonly ResponseItem[] },
): FollowUp['store'] & {} {
  const owner = ownerOf(callerOf(scope));
  return (response) =>
    scope.platform.responses.queue.enqueue({
      id,
      previousId,
      owner,
      createdAt: scope.platform.clock.now(),
      input: listedItems(items, id),
      response,
    });
}

/**
 * The request with the upstream's id of its previous response, when an upstream stores that response. With id security,
 * throws InvalidInput for an id that the caller may not use.
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
  // Without id security the id may be the upstream's own.
  if (!scope.platform.responses.idSecurity) return request;
  throw noPrevious(previous);
}

/**
 * The upstream response of a sealed id, which is the encrypted id and owner of that response. Null for another id, and
 * with id security when the caller may not see the response.
 */
function upstreamOf(scope: Scope<ResponsePlatform>, id: string): UpstreamResponse | null {
  const { ids, idSecurity } = scope.platform.responses;
  const upstream = ids.open(id);
  return upstream !== null && idSecurity && !mayRead(visibilityOf(callerOf(scope)), upstream.owner) ? null : upstream;
}

/** Id of a response, with id and parent span of the call about it. */
export interface NamedResponse extends CallFacts {
  readonly id: string;
  /** Query of the request, including the question mark; empty for none. */
  readonly query: string;
}

/** A response that is stored here, or a call to its upstream about it. */
export type ResponseAnswer = { readonly kind: 'stored'; readonly value: ResponseItem } | ResponseCall;

interface ResponseCall {
  readonly kind: 'upstream';
  readonly call: GatewayCall;
  /** Maps an id of the upstream to the id that the caller knows. */
  readonly idOf: (upstreamId: string) => string;
}

/**
 * Answers a request about a response: from the store, or by a call to the upstream that stores it. Throws Forbidden for
 * an id that the gateway did not issue. Throws NotFound for a response that is not stored or that the caller may not
 * see. Also throws what `pass` throws.
 */
async function answerAbout(
  scope: Scope<ResponsePlatform>,
  named: NamedResponse,
  ask: {
    readonly action: ObjectAction;
    readonly tail: string;
    /** The answer when the response is stored here. */
    readonly here: (response: StoredResponse) => ResponseItem | Promise<ResponseItem>;
  },
): Promise<ResponseAnswer> {
  const { id, query, callId, parent } = named;
  const stored = isOwnResponseId(id) ? await findStored(scope, id) : null;
  if (stored !== null) return { kind: 'stored', value: await ask.here(stored) };
  const upstream = upstreamOf(scope, id);
  if (upstream === null) throw isIssued(scope, id) ? noObject('response', id) : notIssued();
  const { deploymentId, upstreamId, owner } = upstream;
  const place = placeOf(scope, { kind: 'response', id, deploymentId });
  const path = `/${encodeURIComponent(upstreamId)}${ask.tail}${query}`;
  const call = await pass(scope, { action: ask.action, place, tail: path }, { callId, parent });
  const { ids } = scope.platform.responses;
  const idOf = (idInAnswer: string): string =>
    idInAnswer === upstreamId ? id : ids.seal({ deploymentId, upstreamId: idInAnswer, owner });
  return { kind: 'upstream', call, idOf };
}

const isIssued = ({ platform }: Scope<ResponsePlatform>, id: string): boolean =>
  isOwnResponseId(id) || platform.responses.ids.open(id) !== null;

const notIssued = (): Forbidden =>
  new Forbidden('This response id was not issued by this gateway, so its owner is unknown.', 'response_id');

/** Reads a stored response. Throws what `answerAbout` throws. */
export const getResponse = operation({
  name: 'getResponse',
  access: objectReader,
  run: (scope: Scope<ResponsePlatform>, named: NamedResponse): Promise<ResponseAnswer> =>
    answerAbout(scope, named, { action: GET_RESPONSE, tail: '', here: ({ response }) => response }),
});

/** A page of the input items of a response. Throws what `answerAbout` throws. */
export const listResponseItems = operation({
  name: 'listResponseItems',
  access: objectReader,
  run: (
    scope: Scope<ResponsePlatform>,
    { page, ...named }: NamedResponse & { readonly page: ItemPage },
  ): Promise<ResponseAnswer> =>
    answerAbout(scope, named, {
      action: LIST_RESPONSE_ITEMS,
      tail: '/input_items',
      here(response) {
        const { data, hasMore } = itemPage(response, page);
        const idAt = (at: number): unknown => data.at(at)?.['id'] ?? null;
        return { object: 'list', data, first_id: idAt(0), last_id: idAt(-1), has_more: hasMore };
      },
    }),
});

/** Deletes a response permanently. Throws what `answerAbout` throws. */
export const deleteResponse = operation({
  name: 'deleteResponse',
  access: objectWriter,
  run: (scope: Scope<ResponsePlatform>, named: NamedResponse): Promise<ResponseAnswer> =>
    answerAbout(scope, named, {
      action: DELETE_RESPONSE,
      tail: '',
      async here({ id }) {
        await scope.platform.responses.queue.remove(id);
        return { id, object: 'response', deleted: true };
      },
    }),
});

/**
 * Cancels a background response. Throws what `answerAbout` throws, and InvalidInput for a response that is stored here,
 * because such a response never runs in the background.
 */
export const cancelResponse = operation({
  name: 'cancelResponse',
  access: objectWriter,
  run: (scope: Scope<ResponsePlatform>, named: NamedResponse): Promise<ResponseAnswer> =>
    answerAbout(scope, named, {
      action: CANCEL_RESPONSE,
      tail: '/cancel',
      here() {
        throw new InvalidInput('Cannot cancel a synchronous response.');
      },
    }),
});

/** Removes at most `limit` stored responses from before `beforeMs` (Unix ms). Returns their number. */
export const removeExpiredResponses = operation({
  name: 'removeExpiredResponses',
  access: system,
  run: (
    { platform }: Scope<ResponsePlatform>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> => platform.stores.responses.removeBefore(beforeMs, limit),
});
