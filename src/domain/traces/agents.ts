import { addUsd, type Usd } from '../money.ts';
import type { CallSpend } from './call-spend.ts';
import { countedCallSpans, countedTokenSpans } from './estimates.ts';
import type { SpanHead } from './span.ts';
import type { TraceAgent } from './trace.ts';

/** The cost of an agent's calls, each call once. */
export interface AgentSpend {
  /** Null when no call is priced. */
  readonly spend: Usd | null;
  readonly pricedCalls: number;
  /** Priced calls with an estimate from the catalog, included in `pricedCalls`. */
  readonly estimatedCalls: number;
}

/** Tokens of an agent's model calls. In a trace without model calls: tokens of all spans of the agent. */
export interface AgentTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type Draft = { -readonly [Key in keyof TraceAgent]: TraceAgent[Key] };

/** Name of the agent that an agent span runs: the one it declares, else the name of the span. */
const agentNameOf = ({ agent, name }: SpanHead): string => (agent === '' ? name : agent);

/**
 * Name of the agent that each span counts for, by span id. It is the agent of the nearest agent span: the span itself
 * or an ancestor. Without one, it is the agent that the span names, if the trace has an agent of that name. Spans
 * without an agent are absent.
 */
function agentOfSpans(spans: readonly SpanHead[]): ReadonlyMap<string, string> {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const agentNamed = agentFinder(spans);
  const nearestAgents = new Map<string, string | null>();
  /** Undefined for a span that is no agent and was on no earlier path. */
  const knownAgentAt = (span: SpanHead): string | null | undefined =>
    span.type === 'agent' ? agentNameOf(span) : nearestAgents.get(span.spanId);
  for (const span of spans) {
    const path = new Set<string>();
    let step: SpanHead | undefined = span;
    let nearest: string | null | undefined;
    // Ends at a span whose agent is known, above a root, or in a cycle without an agent.
    while (nearest === undefined && step !== undefined && !path.has(step.spanId)) {
      path.add(step.spanId);
      nearest = knownAgentAt(step);
      step = byId.get(step.parentSpanId ?? '');
    }
    for (const spanId of path) nearestAgents.set(spanId, nearest ?? null);
  }
  return new Map(
    spans.flatMap((span): readonly (readonly [string, string])[] => {
      const name = nearestAgents.get(span.spanId) ?? agentNamed(span.agent);
      return name === null ? [] : [[span.spanId, name]];
    }),
  );
}

/**
 * Returns a function that finds an agent of the trace by its name, else by the name of its span. The function returns
 * the name of the agent; null when it finds none.
 */
function agentFinder(spans: readonly SpanHead[]): (name: string) => string | null {
  const names = new Map<string, string>();
  const agents = spans.filter(({ type }) => type === 'agent');
  for (const span of agents) names.set(agentNameOf(span), agentNameOf(span));
  for (const span of agents) if (!names.has(span.name)) names.set(span.name, agentNameOf(span));
  return (name) => (name === '' ? null : (names.get(name) ?? null));
}

/**
 * The agents of a trace, one per name, in the order they first appear. `agentOfSpans` assigns model calls and tool
 * calls to agents. Each model call counts once.
 */
export function agentsOf(spans: readonly SpanHead[]): readonly TraceAgent[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const agents = new Map<string, Draft>();
  for (const span of spans) {
    if (span.type !== 'agent') continue;
    const name = agentNameOf(span);
    const agent = agents.get(name) ?? newAgent(name, parentAgentOf(span, byId));
    agent.invocations += 1;
    agent.durationMs += Number(span.endNs - span.startNs) / NS_PER_MS;
    agents.set(name, agent);
  }
  if (agents.size === 0) return [];
  const agentOf = agentOfSpans(spans);
  const countFor = (name: string | null | undefined, member: 'llmCalls' | 'toolCalls' | 'namedToolCalls'): void => {
    const agent = agents.get(name ?? '');
    if (agent !== undefined) agent[member] += 1;
  };
  for (const { spanId } of countedCallSpans(spans)) countFor(agentOf.get(spanId), 'llmCalls');
  const agentNamed = agentFinder(spans);
  for (const { type, spanId, agent } of spans) {
    if (type !== 'tool') continue;
    countFor(agentOf.get(spanId), 'toolCalls');
    countFor(agentNamed(agent), 'namedToolCalls');
  }
  return [...agents.values()];
}

const NS_PER_MS = 1_000_000;

const newAgent = (name: string, parentAgent: string | null): Draft => ({
  name,
  parentAgent,
  invocations: 0,
  llmCalls: 0,
  toolCalls: 0,
  namedToolCalls: 0,
  durationMs: 0,
});

/** Name of the nearest agent above with another name. Null when a missing parent or a cycle comes first. */
function parentAgentOf(span: SpanHead, byId: ReadonlyMap<string, SpanHead>): string | null {
  const seen = new Set([span.spanId]);
  const own = agentNameOf(span);
  let parent = byId.get(span.parentSpanId ?? '');
  while (parent !== undefined && !seen.has(parent.spanId)) {
    if (parent.type === 'agent' && agentNameOf(parent) !== own) return agentNameOf(parent);
    seen.add(parent.spanId);
    parent = byId.get(parent.parentSpanId ?? '');
  }
  return null;
}

/** Tokens by agent name. */
export function agentTokensOf(spans: readonly SpanHead[]): ReadonlyMap<string, AgentTokens> {
  const agentOf = agentOfSpans(spans);
  const calls = countedTokenSpans(spans);
  const tokens = new Map<string, { inputTokens: number; outputTokens: number }>();
  // Agent spans repeat the usage of their calls. As in the summary, they count only in a trace without calls.
  for (const { spanId, inputTokens, outputTokens } of calls.length > 0 ? calls : spans) {
    const name = agentOf.get(spanId);
    if (name === undefined) continue;
    const agent = tokens.get(name) ?? { inputTokens: 0, outputTokens: 0 };
    agent.inputTokens += inputTokens;
    agent.outputTokens += outputTokens;
    tokens.set(name, agent);
  }
  return tokens;
}

/** The cost of calls by agent name. `calls` is by span id. Agents without priced calls are absent. */
export function agentSpendOf(
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
): ReadonlyMap<string, AgentSpend> {
  const agentOf = agentOfSpans(spans);
  const priced = new Map<string, Map<string, CallSpend>>();
  for (const { spanId } of spans) {
    const call = calls.get(spanId);
    const agent = agentOf.get(spanId);
    if (agent === undefined || call === undefined || call.cost === null) continue;
    // Several spans may have the same spend row, which counts once.
    const callName = call.row === null ? `span ${spanId}` : `row ${call.row.id}`;
    priced.set(agent, (priced.get(agent) ?? new Map<string, CallSpend>()).set(callName, call));
  }
  return new Map(
    [...priced].map(([agent, callsByName]) => {
      const agentCalls = [...callsByName.values()];
      const spend = agentCalls.flatMap(({ cost }) => cost ?? []).reduce(addUsd);
      const estimatedCalls = agentCalls.filter(({ source }) => source !== 'gateway').length;
      return [agent, { spend, pricedCalls: agentCalls.length, estimatedCalls }];
    }),
  );
}
