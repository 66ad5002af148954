import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { itemsOf, itemsSaid } from '../src/domain/responses/items.ts';
import type { Item } from '../src/domain/responses/kept-response.ts';
import { ownResponseId } from '../src/domain/responses/response-ids.ts';
import type { TurnMemory } from '../src/domain/responses/turn-memory.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import { inItsPlace } from './response-context.ts';
import { askWithItems, goingOnUpstream } from './responses.ts';

/** One turn of a connection. */
export interface TurnRequest {
  readonly request: ModelRequest;
  /** What the connection remembers. */
  readonly memory: TurnMemory;
  /** The lane it is in. */
  readonly lane: string;
}

/** A turn that is being answered. */
interface ResponseTurn {
  /** Whoever asked relays the answer and settles it. */
  readonly call: GatewayCall;
  /** To be told of the response that the answer ended with, before its caller is: the lane's next turn may go on from it. */
  said(response: Item): void;
}

/** A response that was made ready, and not asked for. */
interface PreparedResponse {
  readonly id: string;
  /** The response it goes on from; null where there is none. */
  readonly previousId: string | null;
}

/**
 * Asks for a response that may go on from one the connection remembers. What nobody else keeps is remembered for the
 * lane's next turn.
 */
export const takeResponseTurn = operation({
  name: 'takeResponseTurn',
  access: anyKey,
  async run(scope, turn: TurnRequest): Promise<ResponseTurn> {
    const { memory, lane } = turn;
    const { request, from, goesOnFrom } = goingOn(turn);
    const { call, items } = await askWithItems(scope, request, { keep: true, from });
    return {
      call,
      said(response) {
        const { id, store } = response;
        const isKept = request.body['store'] !== false && store !== false;
        if (isKept || typeof id !== 'string') memory.forget(lane);
        else memory.remember(lane, { id, goesOnFrom, items: [...items, ...itemsSaid(response)] });
      },
    };
  },
});

/**
 * Takes in what a response will go on from, and answers nothing: rights, allowance and everything it refers to are as
 * for one that is asked for. It is remembered, and kept nowhere.
 */
export const prepareResponse = operation({
  name: 'prepareResponse',
  access: anyKey,
  async run(scope, turn: TurnRequest): Promise<PreparedResponse> {
    const { request, from, goesOnFrom } = goingOn(turn);
    const { request: sent, items } = await inItsPlace(scope, goingOnUpstream(scope, request));
    await scope.platform.gateway.admit(callerOf(scope), sent);
    const id = ownResponseId(scope.platform.ids.uuid());
    turn.memory.remember(turn.lane, { id, goesOnFrom, items });
    return { id, previousId: from ?? goesOnFrom };
  },
});

/** A turn with what is remembered of the conversation in its place. */
interface GoingOn {
  readonly request: ModelRequest;
  /** The remembered response that it goes on from; null where there is none. */
  readonly from: string | null;
  /** What is kept of the conversation before its items, by others. */
  readonly goesOnFrom: string | null;
}

function goingOn({ request, memory }: TurnRequest): GoingOn {
  const named = request.body['previous_response_id'];
  const previous = typeof named === 'string' ? memory.find(named) : null;
  if (previous === null) return { request, from: null, goesOnFrom: typeof named === 'string' ? named : null };
  const { id, goesOnFrom, items } = previous;
  const changed = {
    input: [...items, ...itemsOf(request.body)],
    previous_response_id: goesOnFrom ?? undefined,
  };
  const replaced = { ...request.replaced, ...changed };
  return { request: { ...request, body: { ...request.body, ...changed }, replaced }, from: id, goesOnFrom };
}
