import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { Forbidden, InvalidInput } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { containersOfOutput } from '../src/domain/upstream-objects/named-containers.ts';
import { type ItemPage, itemPage } from '../src/domain/responses/items.ts';
import type { ResponseItem, StoredResponse } from '../src/domain/responses/stored-response.ts';
import { isOwnResponseId } from '../src/domain/responses/response-ids.ts';
import {
  CANCEL_RESPONSE,
  DELETE_RESPONSE,
  GET_RESPONSE,
  LIST_RESPONSE_ITEMS,
  type ObjectAction,
} from '../src/domain/upstream-objects/object-action.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey, objectReader, objectWriter, system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import { markDeleted } from './operation/deleted-responses.ts';
import { closeDeleted, openBackgroundResponse, recordEnded } from './operation/background-responses.ts';
import { containerRecorder, refersToUpstream } from './operation/named-containers.ts';
import { findStored } from './operation/response-context.ts';
import { type CallFacts, noObject, pass, placeOf } from './operation/object-calls.ts';
import type { ResponsePlatform } from './operation/platform.ts';
import { assertRecorded } from './operation/recorded-runs.ts';
import type { Scope } from './operation/scope.ts';
import { askForResponse, upstreamOf } from './operation/response-calls.ts';

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

/** A request about a response: the response id, with call id and parent span of the request. */
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
  /** Stores the containers that the upstream's response names, and its cost where it ran in the background. */
  readonly received: (response: JsonObject) => void;
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
    /** End of the upstream path, after the response id. */
    readonly pathEnd: string;
    /** The answer when the response is stored here. */
    readonly here: (response: StoredResponse) => ResponseItem | Promise<ResponseItem>;
  },
): Promise<ResponseAnswer> {
  const { id, query, callId, parent } = named;
  const stored = isOwnResponseId(id) ? await findStored(scope, id) : null;
  if (stored !== null) return { kind: 'stored', value: await ask.here(stored) };
  const upstream = upstreamOf(scope, id);
  if (upstream === null && !isIssued(scope, id)) throw notIssued();
  // An issued id without an upstream: the response is not stored, or the caller may not see it.
  if (upstream === null) throw noObject('response', id);
  const { deploymentId, upstreamId, owner, namesOthers = false } = upstream;
  const place = placeOf(scope, { kind: 'response', id, deploymentId });
  const path = `/${encodeURIComponent(upstreamId)}${ask.pathEnd}${query}`;
  const call = await pass(scope, { action: ask.action, place, tail: path }, { callId, parent });
  const { ids, idSecurity } = scope.platform.responses;
  const idOf = (idInAnswer: string): string =>
    idInAnswer === upstreamId ? id : ids.seal({ ...upstream, upstreamId: idInAnswer });
  const received = (response: JsonObject): void => {
    // The answer of the request has stored the containers of a response that did not run in the background.
    const mayNameOthers =
      namesOthers ||
      response['background'] !== true ||
      refersToUpstream(response) ||
      // Without `idSecurity`, the request may have named the upstream's own id of a response of another caller.
      (!idSecurity && (response['previous_response_id'] ?? null) !== null);
    const record = containerRecorder(scope, owner, { body: response, namesOthers: mayNameOthers });
    record(deploymentId, containersOfOutput(response['output']));
    recordEnded(scope, deploymentId, response);
  };
  return { kind: 'upstream', call, idOf, received };
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
    answerAbout(scope, named, { action: GET_RESPONSE, pathEnd: '', here: ({ response }) => response }),
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
      pathEnd: '/input_items',
      here(response) {
        const { data, hasMore } = itemPage(response, page);
        const idAt = (at: number): unknown => data.at(at)?.['id'] ?? null;
        return { object: 'list', data, first_id: idAt(0), last_id: idAt(-1), has_more: hasMore };
      },
    }),
});

/**
 * Deletes a response permanently. Throws what `answerAbout` throws, and Conflict for a background response whose cost
 * is not recorded yet.
 */
export const deleteResponse = operation({
  name: 'deleteResponse',
  access: objectWriter,
  async run(scope: Scope<ResponsePlatform>, named: NamedResponse): Promise<ResponseAnswer> {
    const upstream = upstreamOf(scope, named.id);
    const open = upstream === null ? null : await openBackgroundResponse(scope, upstream);
    if (open !== null) await assertRecorded(scope, open);
    const answer = await answerAbout(scope, named, {
      action: DELETE_RESPONSE,
      pathEnd: '',
      async here({ id }) {
        await scope.platform.responses.queue.remove(id);
        return { id, object: 'response', deleted: true };
      },
    });
    if (answer.kind === 'upstream') markDeleted(scope, named.id);
    if (open !== null) await closeDeleted(scope, open);
    return answer;
  },
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
      pathEnd: '/cancel',
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
