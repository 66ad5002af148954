import { GraphQLError } from 'graphql';
import { type Context, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type SubscribeMessage } from 'graphql-ws';
import type { IncomingMessage } from 'node:http';
import { withKey } from '../../rest-shims/helpers/http/credential.ts';
import type { GraphContext } from '../../schema/base/builder.ts';
import { DomainError, Forbidden, InvalidInput, TooLarge, Unauthenticated, Unavailable } from '../domain/errors.ts';
import type { Turns } from '../domain/event-loop-turns.ts';
import type { OpenSocket, SocketEnd, SocketMessage } from '../domain/realtime/sockets.ts';
import type { Answers } from './answers.ts';
import type { Engine, GraphQLOptions, Pipeline } from './engine.ts';
import { assertJsonSize } from './request-check.ts';
import { CLOSE, SocketConnection, type SocketLimits } from './socket-connection.ts';

const LIMITS: SocketLimits = {
  initMs: 10_000,
  pingMs: 30_000,
  heartbeatTimeoutMs: 75_000,
  stalledMs: 60_000,
  operations: 100,
};

/** WebSockets of the graphql-transport-ws protocol. */
export interface GraphSockets {
  /** Takes an accepted WebSocket. The request is its handshake. */
  join(socket: OpenSocket, request: IncomingMessage, requestId: string): void;
  /** Pings idle clients and closes dead connections; called every few seconds. */
  runChecks(): void;
  /** From now on, no new operations run. A connection closes with 1012 when no operation runs on it. */
  retire(): void;
  /** Resolves when no connection is open. */
  ended(): Promise<void>;
  endAll(): void;
}

interface Extra {
  readonly connection: SocketConnection;
}
type SocketContext = Context<Record<string, unknown> | undefined, Extra>;

export function createGraphSockets(
  { pipelineFor, mask, serving }: Pick<Engine, 'pipelineFor' | 'mask' | 'serving'>,
  {
    scopeFor,
    answers,
    turns,
    socketLimits,
  }: {
    readonly scopeFor: GraphQLOptions['scopeFor'];
    readonly answers: Answers;
    readonly turns: Turns;
    readonly socketLimits?: Partial<SocketLimits>;
  },
): GraphSockets {
  const limits = { ...LIMITS, ...socketLimits };
  const connections = new Set<SocketConnection>();
  const pipelines = new WeakMap<object, Pipeline>();
  let retired = false;
  const idleWaiters: (() => void)[] = [];

  const protocol = makeServer<Record<string, unknown> | undefined, Extra>({
    connectionInitWaitTimeout: limits.initMs,
    onConnect: authenticate,
    onSubscribe: prepare,
    execute: (args) => pipelineOf(args).execute(args),
    subscribe: (args) => pipelineOf(args).subscribe(args),
    async onNext({ extra: { connection } }, _id, _payload, _args, result) {
      await connection.admit();
      const dataText = answers.dataTextOf(result.data);
      if (dataText === null) return undefined;
      const { data = null, errors, extensions } = connection.large.replaceData(result, dataText);
      return {
        data,
        ...(errors ? { errors: errors.map((error) => error.toJSON()) } : {}),
        ...(extensions ? { extensions } : {}),
      };
    },
  });

  /** Checks the key of a connection before the connection is acknowledged. Each operation identifies the key again. */
  async function authenticate({ connectionParams, extra: { connection } }: SocketContext): Promise<boolean> {
    try {
      const key = keyOf(connectionParams);
      const { headers, socket } = connection.request;
      if (key !== null) connection.request = { headers: withKey(headers, key), socket };
      await scopeFor(connection.requester);
      return true;
    } catch (error) {
      connection.close(codeOf(error), mask(error).message);
      return false;
    }
  }

  async function prepare(
    { extra: { connection } }: SocketContext,
    _id: string,
    { query, operationName, variables }: SubscribeMessage['payload'],
  ) {
    try {
      if (retired) throw shutdownError();
      // `running` includes the message of this operation.
      if (connection.running > limits.operations)
        throw new TooLarge(`This connection already runs ${limits.operations} operations.`, limits.operations);
      const due = turns.due();
      if (due !== null) await due;
      const pipeline = pipelineFor(connection.requester);
      const document = pipeline.parse(query);
      const faults = pipeline.validate(pipeline.schema, document);
      if (faults.length > 0) return faults;
      const contextValue: GraphContext = { ...(await pipeline.contextFactory()) };
      pipelines.set(contextValue, pipeline);
      const named = operationName ? { operationName } : {};
      const values = variables ? { variableValues: variables } : {};
      return { schema: pipeline.schema, document, contextValue, ...values, ...named };
    } catch (error) {
      return [mask(error)];
    }
  }

  function pipelineOf({ contextValue }: { readonly contextValue?: unknown }): Pipeline {
    const pipeline = pipelines.get(contextValue as object);
    if (!pipeline) throw new TypeError('This operation has no pipeline.');
    return pipeline;
  }

  function closeIfRetiredAndIdle(connection: SocketConnection): void {
    if (retired && connection.running === 0) connection.close(CLOSE.serviceRestart, shutdownError().message);
  }

  async function handle(
    connection: SocketConnection,
    { bytes, binary }: SocketMessage,
    onMessage: (text: string) => Promise<void>,
  ): Promise<void> {
    if (binary) return connection.close(CLOSE.unsupportedData, 'Send text messages.');
    connection.recordActivity();
    connection.running += 1;
    try {
      assertJsonSize(JSON_MEDIA, bytes, ENVELOPES);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
      await serving({ requestId: connection.requestId, requester: connection }, () => onMessage(text));
    } catch (error) {
      if (isProtocolError(error)) connection.close(CLOSE.badRequest, error.message);
      else connection.close(codeOf(error), mask(error).message);
    } finally {
      connection.running -= 1;
      closeIfRetiredAndIdle(connection);
    }
  }

  function resolveIfIdle(): void {
    if (connections.size > 0) return;
    for (const resolve of idleWaiters.splice(0)) resolve();
  }

  return {
    join(socket, request, requestId) {
      let handleMessage: ((text: string) => Promise<void>) | null = null;
      const connection = new SocketConnection(socket, {
        request,
        requestId,
        limits,
        nowMs: () => performance.now(),
        onClose(code, reason) {
          connections.delete(connection);
          resolveIfIdle();
          void closed(code, reason).catch(mask);
        },
      });
      connections.add(connection);
      const closed = protocol.opened(
        {
          protocol: GRAPHQL_TRANSPORT_WS_PROTOCOL,
          send: (message) => connection.send(message),
          close: (code = CLOSE.internalError, reason = '') => connection.close(code, reason),
          onMessage(handler) {
            handleMessage = handler;
          },
        },
        { connection },
      );
      socket.listen({
        message: (message) => {
          if (handleMessage !== null) void handle(connection, message, handleMessage);
        },
        drained: () => connection.drained(),
        alive: () => connection.recordActivity(),
        ended: (end) => connection.ended(codeOfEnd(end), ''),
      });
      closeIfRetiredAndIdle(connection);
    },
    runChecks() {
      for (const connection of connections) connection.runChecks();
    },
    retire() {
      retired = true;
      for (const connection of connections) closeIfRetiredAndIdle(connection);
    },
    ended: () =>
      new Promise((resolve) => {
        idleWaiters.push(resolve);
        resolveIfIdle();
      }),
    endAll() {
      for (const connection of connections) connection.close(CLOSE.serviceRestart, shutdownError().message);
    },
  };
}

const JSON_MEDIA = { headers: { 'content-type': 'application/json' } };
/** Number of objects around a request: the message of the protocol. */
const ENVELOPES = 1;
const shutdownError = (): Unavailable => new Unavailable('The process is shutting down.');

/**
 * The key in the payload of `connection_init`: `apiKey`, else `Authorization`, else `authorization`. Null without one.
 * Throws InvalidInput for a value that is not a string.
 */
function keyOf(parameters: Readonly<Record<string, unknown>> | undefined): string | null {
  const { apiKey, Authorization, authorization } = parameters ?? {};
  const key = [apiKey, Authorization, authorization].find((value) => value !== undefined) ?? '';
  if (key === '') return null;
  if (typeof key !== 'string')
    throw new InvalidInput('`authorization` and `apiKey` of connection_init must be strings.');
  return key;
}

/** Close code of an error. Clients of the protocol retry only after codes for which a retry may help. */
function codeOf(error: unknown): number {
  if (error instanceof Unauthenticated || error instanceof Forbidden) return CLOSE.forbidden;
  if (error instanceof TooLarge) return CLOSE.tooLarge;
  if (error instanceof InvalidInput) return CLOSE.badRequest;
  return error instanceof DomainError ? CLOSE.tryAgainLater : CLOSE.internalError;
}

/** Whether the client sent a message that only servers send. */
const isProtocolError = (error: unknown): error is Error =>
  error instanceof Error && !(error instanceof GraphQLError) && error.message.startsWith('Unexpected message of type');

const codeOfEnd = (end: SocketEnd): number => (end.kind === 'closed' ? end.code : CLOSE.noCloseFrame);
