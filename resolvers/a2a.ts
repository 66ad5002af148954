import type { A2aAgent } from '../src/domain/a2a-agents/agent.ts';
import { agentUrl, cardVersion, servedCard } from '../src/domain/a2a-agents/card.ts';
import { assertParams, type CalledMethod, methodOf, type RpcMessage } from '../src/domain/a2a-agents/json-rpc.ts';
import { assertMayCallAgent } from '../src/domain/a2a-agents/rights.ts';
import { UNCOUNTED_CALL } from '../src/domain/a2a-agents/sessions.ts';
import {
  AGENT_PROVIDER,
  agentCredentials,
  agentGuardrails,
  agentHeaders,
  agentModel,
  agentPrice,
  agentTimeout,
  foreignProvider,
} from '../src/domain/a2a-agents/upstream.ts';
import type { RateLimit } from '../src/domain/admission/rate-limits.ts';
import type { CallLabels } from '../src/domain/calls/call-labels.ts';
import type { Caller } from '../src/domain/caller.ts';
import { Forbidden, InvalidInput, NotFound, Unavailable, Unsupported } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import type { Forwarded } from '../src/domain/pass-through/forwarded.ts';
import { factsOf, type SentRequest } from '../src/domain/pass-through/sent-request.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import type { A2aPlatform } from './operation/a2a-platform.ts';
import { permissionTerms } from './operation/object-rights.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

type A2aScope = Scope<A2aPlatform>;

/** A message for an agent. */
export interface AgentCall {
  /** Id or name of the agent. */
  readonly agent: string;
  readonly message: RpcMessage;
  readonly sent: SentRequest;
  /** Session of the call, as the client sent it; null for none. */
  readonly session: string | null;
}

/** The answer of an agent, or a card, which the gateway answers itself. */
export type AgentAnswer =
  | { readonly kind: 'call'; readonly call: GatewayCall }
  | { readonly kind: 'card'; readonly card: JsonObject };

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Name of the operation in spans (OpenTelemetry conventions for generative AI). */
const OPERATION = 'invoke_agent';
/** Call types in spend rows, by the kind of the method. Other methods have that of pass-through calls. */
const CALL_TYPES: Readonly<Record<string, string>> = { send: 'asend_message', stream: 'asend_message_streaming' };

/** The agent of a call, which the caller may call for the customer of its labels. Throws NotFound and Forbidden. */
async function calledAgent(scope: A2aScope, idOrName: string, labels?: CallLabels): Promise<A2aAgent> {
  const agent = scope.platform.a2aAgents.find(idOrName);
  if (agent === null) throw new NotFound('agent', idOrName, `Agent '${idOrName}' not found`);
  assertMayCallAgent(callerOf(scope), agent, await permissionTerms(scope, labels));
  if (!agent.enabled) throw new Forbidden(`Agent is disabled: ${agent.id}`, 'agent');
  return agent;
}

/** Address of an agent. Throws Unsupported, and Unavailable for an agent whose secrets cannot be decrypted. */
function targetOf(agent: A2aAgent): string {
  const provider = foreignProvider(agent.params);
  if (provider !== null)
    throw new Unsupported(
      `Agents of the provider '${provider}' are not served. Only agents with the A2A protocol are.`,
    );
  if (!agent.isReadable) throw new Unavailable(`The secrets of agent ${agent.id} cannot be decrypted.`, null);
  const url = agentUrl(agent.card);
  if (url === null) throw new Unavailable(`The card of agent ${agent.id} has no url.`, null);
  return url;
}

/** Limits of an agent, and of one session of it. */
function limitsOf(agent: A2aAgent, session: string | null): readonly RateLimit[] {
  const { id, rpmLimit, tpmLimit, sessionRpmLimit, sessionTpmLimit } = agent;
  const own: RateLimit = { scope: 'agent', id, requests: rpmLimit ?? undefined, tokens: tpmLimit ?? undefined };
  const ofSession: RateLimit = {
    scope: 'agent_session',
    id: `${id}:${session ?? ''}`,
    requests: sessionRpmLimit ?? undefined,
    tokens: sessionTpmLimit ?? undefined,
  };
  return [own, ...(session === null ? [] : [ofSession])].filter(
    ({ requests, tokens }) => requests !== undefined || tokens !== undefined,
  );
}

/** Cost of a call: only messages are billed. */
function costOf(agent: A2aAgent, isBilled: boolean): Pick<Forwarded, 'cost' | 'defaultCost' | 'prices'> {
  const price = agentPrice(agent);
  if (!isBilled || price.kind === 'free') return { cost: ZERO_USD, defaultCost: null };
  if (price.kind === 'query') return { cost: price.cost, defaultCost: null };
  return { cost: null, defaultCost: ZERO_USD, prices: price.prices };
}

interface CallTerms {
  readonly called: CalledMethod;
  readonly caller: Caller;
  readonly traceId: string;
  readonly session: string | null;
  readonly timeoutSeconds: number;
  readonly onCost: (cost: Usd) => void;
  readonly onSent: () => void;
}

function forwardedTo(agent: A2aAgent, { sent, message }: AgentCall, terms: CallTerms): Forwarded {
  const { called, caller, traceId, session, timeoutSeconds, onCost, onSent } = terms;
  const { kind, names } = called.method;
  const version = cardVersion(agent.card);
  const isBilled = kind === 'send' || kind === 'stream';
  const method = names[version ?? called.version];
  const callType = CALL_TYPES[kind];
  return {
    ...factsOf(sent),
    method: 'POST',
    url: targetOf(agent),
    headers: {
      ...agentHeaders(agent, sent.headers, { caller, traceId }),
      ...(version === null ? {} : { 'a2a-version': version }),
    },
    credentials: agentCredentials(agent),
    // The guardrails check and edit only the parameters.
    fields: { params: message.params },
    // Also an equal name is replaced, which removes a second `method`: the agent must read the billed one.
    replaced: { method },
    timeoutSeconds: agentTimeout(agent) ?? timeoutSeconds,
    answerLimit: MAX_ANSWER_BYTES,
    operation: OPERATION,
    model: agentModel(agent),
    provider: AGENT_PROVIDER,
    deploymentId: agent.id,
    ...costOf(agent, isBilled),
    endpoint: null,
    protocol: 'a2a',
    addedGuardrails: agentGuardrails(agent),
    limits: isBilled ? limitsOf(agent, session) : [],
    onCost,
    onSent,
    ...(callType === undefined ? {} : { callType }),
  };
}

/**
 * Sends a message to an agent. A card is answered by the gateway. Throws NotFound for an unknown agent, Forbidden,
 * InvalidRpc, InvalidInput without a required session, LimitExceeded, Unsupported, Unavailable, and what the gateway's
 * `forward` throws.
 */
export const callA2aAgent = operation({
  name: 'callA2aAgent',
  access: anyKey,
  async run(scope: A2aScope, input: AgentCall): Promise<AgentAnswer> {
    const { platform, signal } = scope;
    const { message, session, sent } = input;
    const caller = callerOf(scope);
    const agent = await calledAgent(scope, input.agent, sent.labels);
    const called = methodOf(message);
    assertParams(called, message.params);
    if (called.method.kind === 'card')
      return { kind: 'card', card: servedCard(agent, input.agent, platform.publicUrl()) };
    if (session === null && agent.params['require_trace_id_on_calls_to_agent'] === true)
      throw new InvalidInput('This agent requires the header x-litellm-trace-id.');
    const isBilled = called.method.kind === 'send' || called.method.kind === 'stream';
    const counted = isBilled && session !== null ? platform.agentSessions.begin(agent, session) : UNCOUNTED_CALL;
    let isSent = false;
    const traceId = session ?? sent.parent?.traceId ?? platform.ids.traceId();
    try {
      const forwarded = forwardedTo(agent, input, {
        called,
        caller,
        traceId,
        session,
        timeoutSeconds: platform.passThrough.timeoutSeconds,
        onCost: (cost) => counted.charge(cost),
        onSent() {
          isSent = true;
        },
      });
      return { kind: 'call', call: await platform.gateway.forward(caller, forwarded, signal) };
    } finally {
      // A refused call does not count in the session.
      if (!isSent) counted.release();
    }
  },
});

/** The card of an agent, with the addresses of the gateway. Throws NotFound and Forbidden. */
export const getAgentCard = operation({
  name: 'getAgentCard',
  access: anyKey,
  async run(scope: A2aScope, { agent }: { readonly agent: string }): Promise<JsonObject> {
    return servedCard(await calledAgent(scope, agent), agent, scope.platform.publicUrl());
  },
});
