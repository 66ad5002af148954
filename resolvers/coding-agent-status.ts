import { mayRead, visibilityOf } from '../src/domain/caller.ts';
import {
  agentReportIn,
  type AgentState,
  type CodingAgent,
  DELETED,
  isFinal,
  mayReplaceState,
} from '../src/domain/coding-agents/coding-agent.ts';
import type { PollResult } from '../src/domain/coding-agents/agent-polls.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { prepend, ENDED } from '../src/domain/pollable-stream.ts';
import { SystemCaller } from '../src/domain/system-caller.ts';
import { authored } from './operation/authored.ts';
import { anyone, codingAgentReader } from './operation/access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { operation } from './operation/operation.ts';
import type { CodingAgentPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkAnyAgent, jsonOf, ownAgent, storeState } from './operation/coding-agent-calls.ts';

type AgentScope = Scope<CodingAgentPlatform>;

/** Reads the state of an agent from the provider, with the process as the caller. */
async function poll(scope: AgentScope, id: string, signal: AbortSignal): Promise<PollResult> {
  const systemScope = { ...scope, caller: new SystemCaller('coding-agent-status'), signal };
  const agent = await scope.platform.stores.codingAgents.find(id);
  if (agent === null) {
    publishDeleted(scope, id);
    return 'ended';
  }
  try {
    const { agent: after, changed } = await checkAnyAgent(systemScope, agent);
    if (isFinal(after.state)) return 'ended';
    return changed ? 'changed' : 'same';
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    await storeState(systemScope, agent, ({ state }) => ({ ...state, status: DELETED }));
    return 'ended';
  }
}

/** Publishes the deletion of an agent to its subscribers. */
const publishDeleted = ({ platform }: AgentScope, id: string): void =>
  platform.bus.publish('codingAgent', { id, agent: null });

/**
 * Streams the state of an agent, and each later state up to a final one. All followers of one agent in this process
 * share one poll of the provider. Fails when the reader loses access. Throws NotFound.
 */
export const watchCodingAgent = operation({
  name: 'watchCodingAgent',
  access: codingAgentReader,
  async run(scope: AgentScope, id: string): Promise<AsyncIterableIterator<CodingAgent>> {
    const { bus, agentPolls } = scope.platform;
    const deliveries = bus.subscribe('codingAgent', { wanted: (event) => event.id === id, signal: scope.signal });
    let first: CodingAgent;
    try {
      first = await ownAgent(scope, id);
    } catch (error) {
      await deliveries.return();
      throw error;
    }
    let lastShown = first;
    const changes = whileAllowed(deliveries, {
      scope,
      access: codingAgentReader,
      show({ event: { agent } }, caller) {
        // An event without an agent reports that the agent was deleted.
        const shown = agent ?? { ...lastShown, state: { ...lastShown.state, status: DELETED } };
        return mayRead(visibilityOf(caller), shown) ? shown : null;
      },
    });
    const states = prepend(first, changes);
    const stopPolling = isFinal(first.state)
      ? () => undefined
      : agentPolls.follow(id, (signal) => poll(scope, id, signal));
    let ended = false;
    async function end(): Promise<IteratorReturnResult<undefined>> {
      ended = true;
      stopPolling();
      await states.return();
      return ENDED;
    }
    const stream: AsyncIterableIterator<CodingAgent> = {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        if (ended) return await end();
        try {
          const step = await states.next();
          if (step.done === true) return await end();
          lastShown = step.value;
          ended = isFinal(lastShown.state);
          return { done: false, value: lastShown };
        } catch (error) {
          stopPolling();
          throw error;
        }
      },
      return: end,
    };
    return stream;
  },
});

/**
 * Takes a message of the provider about the state of an agent that was launched through the gateway. Throws NotFound
 * where no secret is configured. Throws InvalidInput for a wrong signature, for bytes that are not a valid message, and
 * for a time more than five minutes from now. Also throws InvalidInput for a message that may not replace the stored
 * state (`mayReplaceState`). A message about an unknown agent, and one that this process has stored before, have no
 * effect.
 */
export const takeAgentMessage = operation({
  name: 'takeAgentMessage',
  access: anyone,
  async run(
    scope: AgentScope,
    { bytes, signature }: { readonly bytes: Uint8Array; readonly signature: string | null },
  ): Promise<void> {
    const { agentMessages, stores } = scope.platform;
    if (!agentMessages.configured) throw new NotFound('webhook', 'coding agents', 'Not Found');
    if (!agentMessages.isSigned(bytes, signature)) throw new InvalidInput('The signature of the message is wrong.');
    const systemScope = { ...scope, caller: new SystemCaller('coding-agent-webhook') };
    const report = agentReportIn(jsonOf(bytes), authored(systemScope).now);
    const agent = await stores.codingAgents.find(report.id);
    if (agent === null) return;
    if (agentMessages.isStored(bytes)) return;
    await storeState(systemScope, agent, (stored) => {
      if (!mayReplaceState(stored, report))
        throw new InvalidInput('The agent has ended, and this message may not replace its state.');
      return merged(stored.state, report.state);
    });
    agentMessages.addStored(bytes);
  },
});

/** The sent state, with stored values for members that the message does not have. */
const merged = (before: AgentState, sent: AgentState): AgentState => ({
  name: sent.name ?? before.name,
  status: sent.status,
  repository: sent.repository ?? before.repository,
  ref: sent.ref ?? before.ref,
  branchName: sent.branchName ?? before.branchName,
  url: sent.url ?? before.url,
  autoCreatePr: sent.autoCreatePr ?? before.autoCreatePr,
  launchedAt: sent.launchedAt ?? before.launchedAt,
});
