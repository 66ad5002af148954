import { prepareResponse, takeResponseTurn, type TurnRequest } from '../resolvers/response-turns.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { streamOfBytes } from '../src/domain/bytes.ts';
import type { ModelRequest, Usage } from '../src/domain/chat/chat.ts';
import { assertValidRequest, invalidType, type RequestBody } from '../src/domain/inference/request-validation.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import type { SocketMessage } from '../src/domain/realtime/sockets.ts';
import type { TurnMemory } from '../src/domain/responses/turn-memory.ts';
import type { RequestedTurn, ReadMessage, Turn } from '../src/domain/responses/turns.ts';
import { VERSION } from '../src/domain/version.ts';
import { socketMessages } from '../src/wire/responses/socket-messages.ts';
import { ResponseWriter } from '../src/wire/responses/write-answer.ts';
import { callSettings } from './helpers/model-call/call-settings.ts';
import { upgradeRequired, type UpgradeRequest } from './helpers/http/handshake.ts';
import { callContext } from './helpers/model-call/model-call.ts';
import { errorEventOf, invalidMember, laneOf, readEvent, steerRefusal } from './helpers/model-call/response-events.ts';
import { RESPONSE_PATHS } from './helpers/model-call/stored-responses.ts';
import type { RouteRow } from './helpers/http/route.ts';

/** The Responses API over a WebSocket, at the paths of the HTTP route. */
export const responseSocketRow: RouteRow = {
  name: 'responses.connect',
  method: 'GET',
  paths: RESPONSE_PATHS,
  surface: 'proxy',
  credential: 'required',
  statuses: [101, 400, 401, 503],
  bodyLimit: 0,
  handle() {
    throw upgradeRequired('/responses');
  },
};

export const responseSocketRoutes: readonly RouteRow[] = [responseSocketRow];

/** Response headers of a connection. A connection is not a call, so it has no call id. */
export const RESPONSE_SOCKET_HEADERS: Readonly<Record<string, string>> = { 'x-litellm-version': VERSION };

/** Context of one client connection. A turn is a requested response. Turns of a lane (`stream_id`) run in sequence. */
interface ClientContext {
  readonly handshake: UpgradeRequest;
  readonly memory: TurnMemory;
  /** Scope of a turn, with the current state of the caller's key. Rejects with Unauthenticated or Unavailable. */
  readonly scopeFor: (signal: AbortSignal) => Promise<Scope>;
  /** Called for every refused turn, with the status in its error event. */
  readonly onRefusal: (failure: unknown, status: number) => void;
}

/** Reads and answers the messages of one client. */
export interface ResponseReader {
  read(message: SocketMessage): ReadMessage;
  /** Renders a failure outside any turn. */
  errorEvent(failure: unknown): SocketMessage;
}

/** Maximum number of named lanes of a connection, as in OpenAI's API. */
const MAX_LANES = 32;

export function createResponseReader(context: ClientContext): ResponseReader {
  const laneNames = new Set<string>();

  function addLane(streamId: string): void {
    if (laneNames.size === MAX_LANES && !laneNames.has(streamId))
      throw invalidMember(
        'stream_id',
        'websocket_stream_limit_reached',
        `This connection reached the limit of ${MAX_LANES} lanes. Use one of them, or open another connection.`,
      );
    laneNames.add(streamId);
  }

  return {
    errorEvent: (failure) =>
      messageOf(errorEventOf(responseSocketRow, failure, { streamId: null, caller: null }).event),
    read({ bytes }) {
      let streamId: string | null = null;
      try {
        const event = readEvent(bytes);
        // A running response accepts no further input.
        if (event['type'] === 'response.steer') return { kind: 'answer', message: messageOf(steerRefusal(event)) };
        streamId = laneOf(event);
        if (streamId !== null) addLane(streamId);
        return turnOf({ event, bytes, streamId }, context);
      } catch (failure) {
        return refusedTurn(failure, streamId, context);
      }
    },
  };
}

const messageOf = (event: object): SocketMessage => ({ bytes: Buffer.from(JSON.stringify(event)), binary: false });

/** A turn for an invalid message. Its error is sent in lane order, so that clients can assign it to the request. */
function refusedTurn(failure: unknown, streamId: string | null, { onRefusal }: ClientContext): RequestedTurn {
  return {
    kind: 'turn',
    lane: streamId ?? '',
    size: 0,
    async begin() {
      throw failure;
    },
    refused(reason) {
      const { event, status } = errorEventOf(responseSocketRow, reason, { streamId, caller: null });
      onRefusal(reason, status);
      return messageOf(event);
    },
  };
}

/** A parsed `response.create` event. */
interface CreateEvent {
  readonly event: RequestBody;
  readonly bytes: Uint8Array;
  /** Name of the lane; null for the unnamed lane. */
  readonly streamId: string | null;
}

function turnOf(create: CreateEvent, { handshake, memory, scopeFor, onRefusal }: ClientContext): RequestedTurn {
  const { event, streamId } = create;
  const lane = streamId ?? '';
  const previous = event['previous_response_id'];
  let scope: Scope | null = null;

  /** Removes the previous response from memory after a failed turn, as OpenAI documents. */
  const removePrevious = (): void => {
    if (typeof previous === 'string') memory.failed(lane, previous);
  };
  /** Error event of a failure. `number` is its `sequence_number`; absent before the first event of the turn. */
  const errorOf = (failure: unknown, number?: number) =>
    errorEventOf(responseSocketRow, failure, {
      streamId,
      caller: scope?.caller ?? null,
      ...(number === undefined ? {} : { number }),
    });

  async function startTurn(turnScope: Scope, turn: TurnRequest): Promise<Turn> {
    const { call, remember } = await takeResponseTurn(turnScope, turn);
    const messages = socketMessages(call.bytes(), {
      streamId,
      ended: (response, status) => (status === 'completed' ? remember(response) : removePrevious()),
    });
    return {
      messages,
      failureEvent: (failure) => messageOf(errorOf(failure, messages.nextNumber()).event),
      ended(end) {
        if (end === 'failed') removePrevious();
      },
    };
  }

  return {
    kind: 'turn',
    lane,
    size: create.bytes.length,
    async begin(signal) {
      try {
        scope = await scopeFor(signal);
        const turn = { request: requestOf(create, handshake), memory, lane };
        return event['generate'] === false ? await prepareTurn(scope, turn, streamId) : await startTurn(scope, turn);
      } catch (failure) {
        removePrevious();
        throw failure;
      }
    },
    refused(failure) {
      const { event: refusal, status } = errorOf(failure);
      onRefusal(failure, status);
      return messageOf(refusal);
    },
  };
}

/** The model request of an event. Throws InvalidInput. */
function requestOf({ event, bytes }: CreateEvent, { search, headers }: UpgradeRequest): ModelRequest {
  const { type: _type, stream_id: _streamId, generate = null, ...members } = event;
  if (generate !== null && typeof generate !== 'boolean') throw invalidType('generate', 'a boolean', RESPONSES);
  if (members['background'] === true)
    throw invalidMember('background', 'unsupported', "The parameter 'background' is not supported on a WebSocket.");
  const model = members['model'] ?? new URLSearchParams(search).get('model');
  const body: RequestBody = { ...members, model, stream: true };
  assertValidRequest(body, RESPONSES);
  const request = { endpoint: RESPONSES, model: String(body['model']), stream: true, includeUsage: false, bytes, body };
  // The upstream gets `bytes` without the members of the WebSocket protocol.
  const replaced = { type: undefined, stream_id: undefined, generate: undefined, stream: true };
  // The call id of the handshake is not used, because a connection has several calls.
  return { ...request, ...callSettings({ headers }, request), ...callContext({ headers }), callId: null, replaced };
}

const ZERO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** A turn with `generate: false`: stores the input for the next turn, without a model call. */
async function prepareTurn(scope: Scope, turn: TurnRequest, streamId: string | null): Promise<Turn> {
  const { id, previousId } = await prepareResponse(scope, turn);
  const { model, body } = turn.request;
  const writer = new ResponseWriter({
    model,
    body,
    fallbackId: id,
    createdAt: Math.floor(scope.platform.clock.now().getTime() / 1000),
    includeUsage: false,
    // No deployment makes this response: its ids are shown unchanged.
    followUp: { ownId: id, previousId, shownId: (_deploymentId, upstreamId) => upstreamId },
  });
  const text = writer.write({ kind: 'usage', usage: ZERO_USAGE }) + writer.end();
  return {
    messages: socketMessages(streamOfBytes(Buffer.from(text)), { streamId, ended() {} }),
    failureEvent: (failure) =>
      messageOf(errorEventOf(responseSocketRow, failure, { streamId, caller: scope.caller }).event),
    ended() {},
  };
}
