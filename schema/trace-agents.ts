import type { Loaders } from '../resolvers/operation/loaders.ts';
import { assembleTrace } from '../src/domain/traces/assemble-trace.ts';
import { type PartialAgent, type PartialTrace, partsOf, TraceAgentType } from './base/refs.ts';
import { usdOrNull } from './base/decimal.ts';

interface WithLoaders {
  readonly loaders: Loaders;
}

/** The agents of a trace. Reads its spans unless the trace already has its agents. */
export async function agentsOf(trace: PartialTrace, loaders: Loaders): Promise<PartialAgent[]> {
  // `accountsOf` finds the calls of an agent by the stored parts of its trace.
  const within = partsOf(trace);
  const agents = await readAgents(trace, loaders);
  return agents.map((agent) => ({ ...agent, within }));
}

async function readAgents(trace: PartialTrace, loaders: Loaders) {
  if (trace.agents) return trace.agents;
  const { summary } = trace;
  const spans = await loaders.spansByTrace.load(summary);
  return assembleTrace([summary], new Map([[summary.traceRef, spans]]))?.agents ?? [];
}

const accountsOf = ({ within }: PartialAgent, { loaders }: WithLoaders) => loaders.accountsByTrace.load(within);

TraceAgentType.implement({
  description:
    'An agent of a trace: all agent spans of the trace with the same agent name. A call belongs to the nearest agent span above it, else to the agent that its span names.',
  fields: (t) => {
    const tokens = (member: 'inputTokens' | 'outputTokens', description: string) =>
      t.field({
        type: 'BigInt',
        description,
        resolve: async (agent, _args, { scope }) =>
          (await accountsOf(agent, scope)).agentTokens.get(agent.name)?.[member] ?? 0,
      });
    const calls = (member: 'pricedCalls' | 'estimatedCalls', description: string) =>
      t.int({
        description,
        resolve: async (agent, _args, { scope }) =>
          (await accountsOf(agent, scope)).agentSpend.get(agent.name)?.[member] ?? 0,
      });
    return {
      name: t.exposeString('name', {
        description: 'Agent name that its spans declare, otherwise the name of the spans.',
      }),
      parentAgent: t.exposeString('parentAgent', {
        nullable: true,
        description: 'Nearest ancestor agent with another name. Null at the top.',
      }),
      invocations: t.exposeInt('invocations', { description: 'Number of its agent spans.' }),
      llmCalls: t.exposeInt('llmCalls', {
        description: 'Number of its model calls. A call that several spans describe counts once.',
      }),
      toolCalls: t.exposeInt('toolCalls', { description: 'Number of its tool calls.' }),
      inputTokens: tokens(
        'inputTokens',
        'Input tokens of its model calls; of its own spans in a trace without model calls.',
      ),
      outputTokens: tokens(
        'outputTokens',
        'Output tokens of its model calls; of its own spans in a trace without model calls.',
      ),
      durationMs: t.exposeFloat('durationMs', {
        description:
          'Sum of the durations of its agent spans in milliseconds. With parallel spans, it can exceed the duration of the trace.',
      }),
      costUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description:
          'Cost of its priced calls in USD, estimates included. Each call counts once. Null when none is priced.',
        resolve: async (agent, _args, { scope }) =>
          usdOrNull((await accountsOf(agent, scope)).agentSpend.get(agent.name)?.spend),
      }),
      pricedCalls: calls('pricedCalls', 'Number of its calls with a known cost.'),
      estimatedCalls: calls('estimatedCalls', 'Number of its calls with an estimated cost.'),
    };
  },
});
