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
  const nameOf = agentOfLabel(spans);
  const nearestAgents = new Map<string, string | null>();
  for (const span of spans) {
    const path: string[] = [];
    const seen = new Set<string>();
    let step: SpanHead | undefined = span;
    while (step !== undefined && step.type !== 'agent' && !nearestAgents.has(step.spanId) && !seen.has(step.spanId)) {
      seen.add(step.spanId);
      path.push(step.spanId);
      step = byId.get(step.parentSpanId ?? '');
    }
    // The walk ends above a root, at an agent span, at a span of an earlier walk, or in a cycle without an agent.
    const nearest =
      step === undefined ? null : step.type === 'agent' ? agentNameOf(step) : nearestAgents.get(step.spanId);
    for (const spanId of path) nearestAgents.set(spanId, nearest ?? null);
    if (span.type === 'agent') nearestAgents.set(span.spanId, agentNameOf(span));
  }
  return new Map(
    spans.flatMap((span): readonly (readonly [string, string])[] => {
      const name = nearestAgents.get(span.spanId) ?? nameOf(span.agent);
      return name === null ? [] : [[span.spanId, name]];
    }),
  );
}

/** Returns a function that finds an agent by its name, else by the name of its span; null without one. */
function agentOfLabel(spans: readonly SpanHead[]): (label: string) => string | null {
  const names = new Map<string, string>();
  const agents = spans.filter(({ type }) => type === 'agent');
  for (const span of agents) names.set(agentNameOf(span), agentNameOf(span));
  for (const span of agents) if (!names.has(span.name)) names.set(span.name, agentNameOf(span));
  return (label) => (label === '' ? null : (names.get(label) ?? null));
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
  const nameOf = agentOfLabel(spans);
  for (const { type, spanId, agent } of spans) {
    if (type !== 'tool') continue;
    countFor(agentOf.get(spanId), 'toolCalls');
    countFor(nameOf(agent), 'namedToolCalls');
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

/** The nearest agent above with another name. Stops at a missing parent, and at a cycle. */
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
  // Agent spans repeat the usage of their calls. With a call, only calls count, as in the summary.
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
      const own = [...callsByName.values()];
      const spend = own.flatMap(({ cost }) => cost ?? []).reduce(addUsd);
      const estimatedCalls = own.filter(({ source }) => source !== 'gateway').length;
      return [agent, { spend, pricedCalls: own.length, estimatedCalls }];
    }),
  );
}
