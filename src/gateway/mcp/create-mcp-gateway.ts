import { streamOfBytes } from '../../domain/bytes.ts';
import type { Exchange, Outcome } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import { withTokenCustomer } from '../../domain/calls/token-customer.ts';
import { attachFailedCall } from '../../domain/chat/failed-call.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import { inParallel } from '../../domain/in-parallel.ts';
import type { McpServer } from '../../domain/mcp-servers/mcp-server.ts';
import { outcomeOf } from '../../domain/mcp/outcome.ts';
import { mcpLabels } from '../../domain/mcp/mcp-labels.ts';
import type { ServerTools } from '../../domain/mcp/mcp-request.ts';
import type { McpToolResult, McpUpstream } from '../../domain/mcp/mcp-upstream.ts';
import { prefixedName, prefixOf } from '../../domain/mcp/tool-names.ts';
import { upstreamHeaders } from '../../domain/mcp/upstream-headers.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { RecordedRequest } from '../accounting/record.ts';
import type { Caller } from '../../domain/caller.ts';
import { type CallTools, type OpenCall, openCall } from '../calls/call.ts';
import type { CallGuard, Guards } from '../guardrails/guarding.ts';
import { withTool } from '../guardrails/inspected-tools.ts';
import { withinDeadline } from './deadline.ts';
import { checkArguments, checkResult } from './guarded-tool.ts';
import { mcpLimitsOf } from './mcp-limits.ts';
import type { McpChosenTool, McpGateway, McpGatewayCall, McpSender, McpToolChoice } from './mcp-gateway.ts';

/** Deadline of a listing of all its servers together, in ms. */
const LIST_MS = 30_000;
/** Deadline of a call to a server without a configured one, in ms. */
const CALL_MS = 60_000;
/** Maximum number of servers that are asked for their tools at the same time. */
const PARALLEL_SERVERS = 64;

/** What a request to a server sends besides its message. */
const upstreamCall = (server: McpServer, sender: McpSender, signal: AbortSignal) => ({
  headers: upstreamHeaders(server, sender),
  owner: sender.caller.keyHash,
  signal,
});

/** Creates the gateway to MCP servers. `guards` is null without guardrails. */
export function createMcpGateway(upstream: McpUpstream, tools: CallTools, guards: Guards | null): McpGateway {
  /** The tools of one server. A failure is a result, too. Throws only the reason of the signal. */
  async function toolsOf(
    server: McpServer,
    sender: McpSender,
    { signal, withinMs }: { readonly signal: AbortSignal; readonly withinMs: number },
  ): Promise<ServerTools> {
    const milliseconds = Math.min(server.timeoutMs ?? withinMs, withinMs);
    try {
      const listed = await withinDeadline({ signal, milliseconds, what: nameIn(server) }, (deadline) =>
        upstream.listTools(server, upstreamCall(server, sender, deadline)),
      );
      return { server, tools: listed, outcome: { status: 'ok', toolCount: listed.length }, failure: null };
    } catch (failure) {
      signal.throwIfAborted();
      if (!(failure instanceof Error)) throw failure;
      return { server, tools: [], outcome: outcomeOf(failure), failure };
    }
  }

  /** The guardrails of a call; null when none applies. */
  function guardOf({ caller }: McpSender, { model, labels }: RecordedRequest): CallGuard | null {
    if (guards === null) return null;
    const keyNamesGuardrails = caller.key !== null && namesGuardrails(caller.key);
    if (guards.isIdle() && !keyNamesGuardrails) return null;
    const guard = guards.open({ caller, model, labels });
    return guard.isIdle() ? null : guard;
  }

  return {
    async listTools(servers, sender, { signal, isRecorded, milliseconds = LIST_MS }) {
      const call = isRecorded ? openListing(tools, sender, signal) : null;
      const endMs = tools.clock.monotonicMs() + Math.min(milliseconds, LIST_MS);
      try {
        const listed = await inParallel(servers, PARALLEL_SERVERS, (server) =>
          toolsOf(server, sender, { signal, withinMs: Math.max(0, endMs - tools.clock.monotonicMs()) }),
        );
        await call?.answered(exchangeOf(outcomeWith(null, false))).consume(() => Promise.resolve());
        return listed;
      } catch (failure) {
        call?.failed(failure);
        throw failure;
      }
    },
    async callTool(wanted, sender, signal) {
      const request = requestOf(wanted, sender);
      const guard = guardOf(sender, request);
      let chosen: McpChosenTool | null = 'server' in wanted ? wanted : null;
      let reportsFailure = false;
      const price = (): Usd => (chosen === null || reportsFailure ? ZERO_USD : priceOf(chosen));
      const call = openCall(tools, {
        caller: sender.caller,
        request,
        deployment: { ...deploymentOf(chosen?.server ?? null, request.model), modelGroup: request.model },
        signal,
        costOf: ({ failure }) => (failure === null ? price() : ZERO_USD),
        // The server does the work although its client has left.
        abortedCost: price,
      });
      if (guard !== null) call.setGuard(guard);
      try {
        const cost = 'server' in wanted ? priceOf(wanted) : highestPrice(wanted);
        await call.reserve({ deployment: call.deployment(), request: null, cost });
        chosen = await limited(call, wanted, { caller: sender.caller, request });
        const { server, tool } = chosen;
        const names = [prefixedName(server, tool), tool];
        const running = withTool({ callId: call.callId, traceId: call.traceId, signal }, names);
        const args = guard === null ? wanted.args : await checkArguments(guard, wanted.args, running);
        const calledTool = { name: prefixedName(server, tool), origin: prefixOf(server) };
        call.setEditedRequest({ ...request, body: { input: args }, calledTool });
        const milliseconds = server.timeoutMs ?? CALL_MS;
        const result = await withinDeadline({ signal, milliseconds, what: nameIn(server) }, (deadline) => {
          call.sent();
          return upstream.callTool(server, { name: tool, args }, upstreamCall(server, sender, deadline));
        });
        reportsFailure = result.isError === true;
        // A result that the guardrails refuse was delivered by the server, so it is charged.
        call.received(exchangeOf(outcomeWith(result, tools.capturePrompts)));
        const checked = guard === null ? result : await checkResult(guard, result, running);
        const answered = call.answered(exchangeOf(outcomeWith(checked, tools.capturePrompts)));
        return await answered.consume(() => Promise.resolve(checked));
      } catch (failure) {
        attachFailedCall(failure, {
          callId: call.callId,
          timeoutSeconds: (chosen?.server.timeoutMs ?? CALL_MS) / 1_000,
          ...(guard === null ? {} : { guardrails: guard.applied }),
        });
        call.failed(failure);
        throw failure;
      }
    },
  };
}

/**
 * Counts a call in the limits of its caller and of its server. Servers are asked for the tool after the limits of the
 * caller have admitted the call.
 */
async function limited(
  call: OpenCall,
  wanted: McpGatewayCall,
  { caller, request }: { readonly caller: Caller; readonly request: RecordedRequest },
): Promise<McpChosenTool> {
  const { model } = request;
  if ('server' in wanted) {
    await call.limit({ model, targetLimits: mcpLimitsOf(caller, wanted.server) });
    return wanted;
  }
  await call.limit({ model });
  const chosen = await wanted.choose();
  call.replaceDeployment({ request, deployment: deploymentOf(chosen.server, model) });
  await call.limit({ model, targetLimits: mcpLimitsOf(caller, chosen.server), isCounted: true });
  return chosen;
}

const nameIn = (server: McpServer): string => `The MCP server ${prefixOf(server)}`;

/** Price of a call: that of the tool, else that of the server, else nothing. */
const priceOf = ({ server: { prices }, tool }: McpChosenTool): Usd =>
  prices.byTool.get(tool) ?? prices.perCall ?? ZERO_USD;

/** The highest price of a call whose server is not known. */
const highestPrice = ({ candidates, sentName }: McpToolChoice & Pick<McpGatewayCall, 'sentName'>): Usd =>
  candidates
    .map((server) => priceOf({ server, tool: sentName }))
    .reduce((highest, price) => (price > highest ? price : highest), ZERO_USD);

/** The request of a tool call as it is recorded. Its span has the type of a tool. */
function requestOf({ sentName, args }: McpGatewayCall, sender: McpSender): RecordedRequest {
  const { caller, sessionId, clientHeaders } = sender;
  const labels = mcpLabels(clientHeaders, sessionId);
  const request: RecordedRequest = {
    endpoint: {
      operation: 'execute_tool',
      callType: 'call_mcp_tool',
      input: { member: 'input', form: 'json' },
    },
    model: `MCP: ${sentName}`,
    body: { input: args },
    callId: null,
    parent: null,
    ...(labels === undefined ? {} : { labels }),
  };
  return withKeyTags(caller.key, withTokenCustomer(caller.key, request));
}

/** Opens the record of a listing, which costs nothing and has no group of models. */
const openListing = (tools: CallTools, { caller }: McpSender, signal: AbortSignal) =>
  openCall(tools, {
    caller,
    request: {
      endpoint: { operation: 'list_tools', callType: 'list_mcp_tools' },
      model: '',
      body: {},
      callId: null,
      parent: null,
    },
    deployment: deploymentOf(null, 'MCP: list_tools'),
    signal,
    costOf: () => ZERO_USD,
  });

/** A server as a deployment, for records. The reference records no provider. */
const deploymentOf = (server: McpServer | null, upstreamModel: string): Deployment => ({
  id: server?.id ?? '',
  modelGroup: server === null ? '' : upstreamModel,
  provider: '',
  upstreamModel,
  apiBase: server?.url ?? null,
  apiKey: null,
  options: {},
  secrets: {},
  dropParams: false,
  timeoutSeconds: (server?.timeoutMs ?? CALL_MS) / 1_000,
  priceOverrides: {},
  baseModel: null,
});

/** Outcome of an answer; of a listing with the result null. A tool that reports a failure is recorded as failed. */
function outcomeWith(result: McpToolResult | null, capturesText: boolean): Outcome {
  const texts = (result?.content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const isFailed = result?.isError === true;
  return {
    responseId: null,
    responseModel: null,
    finishReason: null,
    usage: null,
    failure: isFailed ? { code: 'tool_error', message: 'The tool reported a failure.' } : null,
    text: capturesText && result !== null ? JSON.stringify(result.structuredContent ?? texts) : null,
  };
}

/** A complete answer. Only its outcome is read. */
const exchangeOf = (outcome: Outcome): Exchange => ({
  status: 200,
  headers: {},
  streaming: false,
  bytes: streamOfBytes(new Uint8Array()),
  deltas: () => {
    throw new TypeError('An answer of an MCP server has no deltas.');
  },
  outcome: () => outcome,
});
