import { prepareResponse, takeResponseTurn, type TurnRequest } from '../resolvers/response-turns.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { bytesOf } from '../src/domain/bytes.ts';
import type { ModelRequest, Usage } from '../src/domain/chat/chat.ts';
import { assertAskable, mistyped, type RequestBody } from '../src/domain/inference/askable.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import type { SocketMessage } from '../src/domain/realtime/sockets.ts';
import type { TurnMemory } from '../src/domain/responses/turn-memory.ts';
import type { AskedTurn, ReadMessage, Turn } from '../src/domain/responses/turns.ts';
import { VERSION } from '../src/domain/version.ts';
import { socketMessages } from '../src/wire/responses/socket-messages.ts';
import { ResponseWriter } from '../src/wire/responses/write-answer.ts';
import { callTermsOf } from './model-call/terms.ts';
import { noUpgrade, type UpgradeRequest } from './http/handshake.ts';
import { callFactsOf } from './model-call/model-call.ts';
import { errorEventOf, faultIn, laneOf, readEvent, unsteered } from './response-events.ts';
import { RESPONSE_PATHS } from './responses.ts';
import type { RouteRow } from './http/route.ts';

/** The Responses API over a WebSocket, where it is over HTTP. */
export const responseSocketRow: RouteRow = {
  name: 'responses.connect',
  method: 'GET',
  paths: RESPONSE_PATHS,
  surface: 'proxy',
  // WebSockets are not counted as activity.
  category: null,
  credential: 'required',
  answers: [101, 400, 401, 503],
  bodyLimit: 0,
  handle() {
    throw noUpgrade('/responses');
  },
};

export const responseSocketRoutes: readonly RouteRow[] = [responseSocketRow];

/** What the head of the answer tells of a connection: it is no call, and has no id. */
export const RESPONSE_SOCKET_HEAD: Readonly<Record<string, string>> = { 'x-litellm-version': VERSION };

/** What the messages of one client are read with. */
interface Reading {
  readonly request: UpgradeRequest;
  readonly memory: TurnMemory;
  /** What a turn may see, with the caller's key as it stands then. Throws Unauthenticated. */
  readonly scopeFor: (signal: AbortSignal) => Promise<Scope>;
  /** Told of every refusal, with the status it was told under. */
  readonly failed: (failure: unknown, status: number) => void;
}

/** Reads and answers the messages of one client. */
export interface ResponseReader {
  read(message: SocketMessage): ReadMessage;
  /** A failure that is about no turn. */
  words(failure: unknown): SocketMessage;
}

/** Named lanes of one connection: OpenAI's number. */
const MOST_LANES = 32;

export function createResponseReader(reading: Reading): ResponseReader {
  const names = new Set<string>();

  function claim(streamId: string): void {
    if (names.size === MOST_LANES && !names.has(streamId))
      throw faultIn(
        'stream_id',
        'websocket_stream_limit_reached',
        `This connection has named ${MOST_LANES} lanes, which is the most. Use one of those, or open another connection.`,
      );
    names.add(streamId);
  }

  return {
    words: (failure) => spoken(errorEventOf(responseSocketRow, failure, { streamId: null, caller: null }).event),
    read({ bytes }) {
      let streamId: string | null = null;
      try {
        const event = readEvent(bytes);
        if (event['type'] === 'response.steer') return { kind: 'answer', message: spoken(unsteered(event)) };
        streamId = laneOf(event);
        if (streamId !== null) claim(streamId);
        return askedTurn({ event, bytes, streamId }, reading);
      } catch (failure) {
        return refusedTurn(failure, streamId, reading);
      }
    },
  };
}

const spoken = (event: object): SocketMessage => ({ bytes: Buffer.from(JSON.stringify(event)), binary: false });

/** A message that asks for nothing that can be begun. It is told of in its turn, so that nobody takes it for another's failure. */
function refusedTurn(failure: unknown, streamId: string | null, { failed }: Reading): AskedTurn {
  return {
    kind: 'turn',
    lane: streamId ?? '',
    size: 0,
    async begin() {
      throw failure;
    },
    refused(why) {
      const { event, status } = errorEventOf(responseSocketRow, why, { streamId, caller: null });
      failed(why, status);
      return spoken(event);
    },
  };
}

/** An event that asks for a response, as it came. */
interface AskedEvent {
  readonly event: RequestBody;
  readonly bytes: Uint8Array;
  /** Its lane; null for the one without a name. */
  readonly streamId: string | null;
}

function askedTurn(asked: AskedEvent, { request, memory, scopeFor, failed }: Reading): AskedTurn {
  const { event, streamId } = asked;
  const lane = streamId ?? '';
  const previous = event['previous_response_id'];
  let scope: Scope | null = null;

  /** What could not be gone on from is not remembered any longer, as clients are told. */
  const forget = (): void => {
    if (typeof previous === 'string') memory.failed(lane, previous);
  };
  const errorOf = (failure: unknown, number?: number) =>
    errorEventOf(responseSocketRow, failure, {
      streamId,
      caller: scope?.caller ?? null,
      ...(number === undefined ? {} : { number }),
    });

  async function taken(within: Scope, turn: TurnRequest): Promise<Turn> {
    const { call, said } = await takeResponseTurn(within, turn);
    const messages = socketMessages(call.exchange.bytes, {
      streamId,
      ended: (response, status) => (status === 'said' ? said(response) : forget()),
    });
    return {
      messages,
      lastWords: (failure) => spoken(errorOf(failure, messages.nextNumber()).event),
      ended(end, failure) {
        if (end === 'failed') forget();
        call.settle(end, failure);
      },
    };
  }

  return {
    kind: 'turn',
    lane,
    size: asked.bytes.length,
    async begin(signal) {
      try {
        scope = await scopeFor(signal);
        const turn = { request: requestOf(asked, request), memory, lane };
        return event['generate'] === false ? await prepared(scope, turn, streamId) : await taken(scope, turn);
      } catch (failure) {
        forget();
        throw failure;
      }
    },
    refused(failure) {
      const { event: said, status } = errorOf(failure);
      failed(failure, status);
      return spoken(said);
    },
  };
}

/** The call that an event asks for. Throws InvalidInput. */
function requestOf({ event, bytes }: AskedEvent, { search, headers }: UpgradeRequest): ModelRequest {
  const { type: _type, stream_id: _streamId, generate = null, ...asked } = event;
  if (generate !== null && typeof generate !== 'boolean') throw mistyped('generate', 'a boolean', RESPONSES);
  if (asked['background'] === true)
    throw faultIn('background', 'unsupported', "On a WebSocket there is no 'background'.");
  const model = asked['model'] ?? new URLSearchParams(search).get('model');
  const body: RequestBody = { ...asked, model, stream: true };
  assertAskable(body, RESPONSES);
  const request = { endpoint: RESPONSES, model: String(body['model']), stream: true, includeUsage: false, bytes, body };
  // What is of the connection is not of the response.
  const replaced = { type: undefined, stream_id: undefined, generate: undefined, stream: true };
  // A call's id that came with the handshake cannot be that of every call here.
  return { ...request, ...callTermsOf({ headers }, request), ...callFactsOf({ headers }), callId: null, replaced };
}

const NOTHING_USED: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** A turn that only makes the next one ready: it says that it has ended, and calls nobody. */
async function prepared(scope: Scope, turn: TurnRequest, streamId: string | null): Promise<Turn> {
  const { id, previousId } = await prepareResponse(scope, turn);
  const { model, body } = turn.request;
  const writer = new ResponseWriter({
    model,
    body,
    fallbackId: id,
    createdAt: Math.floor(scope.platform.clock.now().getTime() / 1000),
    includeUsage: false,
    followUp: { ownId: id, previousId, shownId: (_deploymentId, upstreamId) => upstreamId },
  });
  const text = writer.write({ kind: 'usage', usage: NOTHING_USED }) + writer.end();
  return {
    messages: socketMessages(bytesOf(Buffer.from(text)), { streamId, ended() {} }),
    lastWords: (failure) => spoken(errorEventOf(responseSocketRow, failure, { streamId, caller: scope.caller }).event),
    ended() {},
  };
}
