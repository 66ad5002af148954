import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { inputItemsOf, outputAsInput } from '../src/domain/responses/items.ts';
import type { ResponseItem } from '../src/domain/responses/stored-response.ts';
import { ownResponseId } from '../src/domain/responses/response-ids.ts';
import type { TurnMemory } from '../src/domain/responses/turn-memory.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import { resolveReferences } from './operation/response-context.ts';
import type { ResponsePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { withContainers } from './operation/named-containers.ts';
import { askWithItems, assertMayUseTools, withUpstreamPrevious } from './operation/response-calls.ts';

/** One turn of a WebSocket connection. */
export interface TurnRequest {
  readonly request: ModelRequest;
  /** Responses that the connection stores. */
  readonly memory: TurnMemory;
  /** Name of the turn's lane. Turns of one lane run in order. */
  readonly lane: string;
}

/** A turn whose answer has started. */
interface ResponseTurn {
  readonly call: GatewayCall;
  /**
   * Takes the final response of the answer. A response with `store: false` is stored for the next turn of the lane. For
   * any other response the lane is evicted. Call this before the last event is sent, because the client may start the
   * next turn after that event.
   */
  remember(response: ResponseItem): void;
}

/** A response that was prepared without a model call. */
interface PreparedResponse {
  readonly id: string;
  /** Id of the previous response; null for none. */
  readonly previousId: string | null;
}

/**
 * Requests a response, which may continue a response that the connection stores. A response with `store: false` is
 * stored in the connection only, for the next turn of the lane.
 */
export const takeResponseTurn = operation({
  name: 'takeResponseTurn',
  access: anyKey,
  async run(scope: Scope<ResponsePlatform>, turn: TurnRequest): Promise<ResponseTurn> {
    const { memory, lane } = turn;
    const { request, from, previousStoredId } = continuedTurn(turn);
    const { call, items } = await askWithItems(scope, request, { keep: true, from });
    return {
      call,
      remember(response) {
        const { id, store } = response;
        const isStored = request.body['store'] !== false && store !== false;
        if (isStored || typeof id !== 'string') memory.evict(lane);
        else memory.put(lane, { id, previousStoredId, items: [...items, ...outputAsInput(response)] });
      },
    };
  },
});

/**
 * Prepares the context of a response without a model call. Access, budget and references are checked as for a call. The
 * context is stored in the connection only.
 */
export const prepareResponse = operation({
  name: 'prepareResponse',
  access: anyKey,
  async run(scope: Scope<ResponsePlatform>, turn: TurnRequest): Promise<PreparedResponse> {
    const { request, from, previousStoredId } = continuedTurn(turn);
    const resolved = await resolveReferences(scope, withUpstreamPrevious(scope, request));
    await assertMayUseTools(scope, request);
    await scope.platform.gateway.admit(callerOf(scope), (await withContainers(scope, resolved.request)).request);
    const id = ownResponseId(scope.platform.ids.uuid());
    turn.memory.put(turn.lane, { id, previousStoredId, items: resolved.items });
    return { id, previousId: from ?? previousStoredId };
  },
});

/** A turn with the stored items of its conversation. */
interface ContinuedTurn {
  readonly request: ModelRequest;
  /** Id of the previous response, when the connection stores that response; null otherwise. */
  readonly from: string | null;
  /** Id of the response before the items, when it is stored outside of the connection; null for none. */
  readonly previousStoredId: string | null;
}

function continuedTurn({ request, memory }: TurnRequest): ContinuedTurn {
  const sentId = request.body['previous_response_id'];
  const previousId = typeof sentId === 'string' ? sentId : null;
  const previous = previousId === null ? null : memory.find(previousId);
  if (previous === null) return { request, from: null, previousStoredId: previousId };
  const { id, previousStoredId, items } = previous;
  const changed = {
    input: [...items, ...inputItemsOf(request.body)],
    previous_response_id: previousStoredId ?? undefined,
  };
  const replaced = { ...request.replaced, ...changed };
  return { request: { ...request, body: { ...request.body, ...changed }, replaced }, from: id, previousStoredId };
}
