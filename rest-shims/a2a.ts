import { type AgentAnswer, callA2aAgent, getAgentCard } from '../resolvers/a2a.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { idOf, InvalidRpc, readMessage } from '../src/domain/a2a-agents/json-rpc.ts';
import { DomainError, UpstreamFailed } from '../src/domain/errors.ts';
import { RPC_CODES } from '../src/domain/json-rpc-codes.ts';
import { eventOf } from '../src/wire/sse/events.ts';
import { isOutsideRpc, JsonRpcFailure, rpcError } from './helpers/http/json-rpc-failure.ts';
import { parseValue } from './helpers/http/json-body.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { relayedAnswer, sentRequest } from './helpers/model-call/pass-through.ts';

type RpcId = ReturnType<typeof idOf>;

const JSON_TYPE = /^\s*application\/([\w.-]+\+)?json\b/i;
const EVENTS_TYPE = /^\s*text\/event-stream/i;
const FIRST_ERROR_STATUS = 400;
const FIRST_REDIRECT_STATUS = 300;
/** Statuses of an agent that are about the credential of the gateway, not about that of the client. */
const ABOUT_CREDENTIAL: ReadonlySet<number> = new Set([401, 403, 407]);

const agentIn = ({ params }: HttpRequest): string => params['agent'] ?? '';

/** Session of a call, as the client sent it; null for none. */
function sessionOf({ headers }: HttpRequest): string | null {
  const sent = headers['x-litellm-trace-id'] ?? headers['x-litellm-session-id'];
  const text = Array.isArray(sent) ? sent[0] : sent;
  return text === undefined || text === '' ? null : text;
}

/** The value of a body. Throws InvalidRpc when it is not valid JSON. */
function valueOf({ body }: HttpRequest): unknown {
  try {
    return parseValue(body);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new InvalidRpc('Parse error: the body is not valid JSON', RPC_CODES.parseError);
  }
}

/** Runs a part of a request. Its failures get the id of the request, except those without a JSON-RPC body. */
async function inRpc<Result>(id: RpcId, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DomainError) || isOutsideRpc(error)) throw error;
    throw new JsonRpcFailure(error, id);
  }
}

/**
 * Why an answer is not relayed; null when it is:
 * - an error that is no JSON, or that refuses the credential of the gateway
 * - a redirect: a client that follows it would send its key of the gateway to another address
 * - another content type than those of the protocol, such as a page, which browsers would show as one of the gateway
 */
function answerFault({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}): string | null {
  const type = headers['content-type'];
  const isJson = JSON_TYPE.test(type ?? '');
  const isRefusal = status >= FIRST_ERROR_STATUS && (!isJson || ABOUT_CREDENTIAL.has(status));
  if (isRefusal || (status >= FIRST_REDIRECT_STATUS && status < FIRST_ERROR_STATUS))
    return `The agent answered with status ${status}.`;
  if (isJson || type === undefined || EVENTS_TYPE.test(type)) return null;
  return 'The agent answered neither with JSON nor with events.';
}

/** Relays the answer of an agent, or fails. A stream that fails ends with an error event. */
function renderCall(answer: Extract<AgentAnswer, { kind: 'call' }>, scope: Scope, id: RpcId): HttpAnswer {
  const { call } = answer;
  const fault = answerFault(call.exchange);
  if (fault !== null) {
    const failure = new UpstreamFailed(fault, { provider: call.deployment.provider, upstreamStatus: null });
    call.bytes().cancel(failure);
    throw failure;
  }
  const relayed = relayedAnswer(call, scope);
  if (relayed.body.kind !== 'stream') return relayed;
  const isEvents = relayed.body.heartbeat !== undefined;
  const failureEvent = (failure: Error): Uint8Array =>
    eventOf(JSON.stringify(rpcError(failure instanceof DomainError ? failure : null, id)));
  return isEvents ? { ...relayed, body: { ...relayed.body, failureEvent } } : relayed;
}

async function handleMessage(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const value = await inRpc(null, async () => valueOf(request));
  const id = idOf(value);
  return await inRpc(id, async () => {
    const message = readMessage(value);
    const input = { agent: agentIn(request), message, sent: sentRequest(request), session: sessionOf(request) };
    const answer = await callA2aAgent(scope, input);
    if (answer.kind === 'card') return json({ jsonrpc: '2.0', id: message.id, result: answer.card });
    return renderCall(answer, scope, id);
  });
}

const ROW = { surface: 'a2a', credential: 'required' } as const satisfies Partial<RouteRow>;

/** Calls of A2A agents. Answers of agents are relayed. */
export const a2aRoutes: readonly RouteRow[] = [
  {
    ...ROW,
    name: 'a2a.call',
    method: 'POST',
    paths: ['/a2a/:agent', '/a2a/:agent/message/send', '/v1/a2a/:agent/message/send'],
    relays: 'answers',
    bodySchema: {},
    bodyLimit: 'setting',
    statuses: [200, 400, 401, 403, 404, 422, 429, 500, 503],
    handle: handleMessage,
  },
  route({
    ...ROW,
    name: 'a2a.card',
    method: 'GET',
    paths: ['/a2a/:agent/.well-known/agent-card.json', '/a2a/:agent/.well-known/agent.json'],
    bodyLimit: 0,
    statuses: [200, 401, 403, 404],
    parse: (request) => ({ agent: agentIn(request) }),
    run: getAgentCard,
    render: (card) => json(card),
  }),
];
