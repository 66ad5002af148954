import { callMcpTool, listMcpTools } from '../../../resolvers/mcp-tools.ts';
import type { McpExchange } from '../../../resolvers/mcp-protocol.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { DomainError, Forbidden } from '../../../src/domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import { RPC_CODES } from '../../../src/domain/json-rpc-codes.ts';
import type { McpToolListing } from '../../../src/domain/mcp/mcp-request.ts';
import type { McpToolResult } from '../../../src/domain/mcp/mcp-upstream.ts';
import type { RpcError } from '../../../src/wire/mcp/messages.ts';
import { listMetaOf, prefixedTool } from '../answers/mcp-tools.ts';
import { INTERNAL_MESSAGE } from '../http/dialect-errors.ts';

/** A request that a method refuses, with a code of JSON-RPC. */
class RpcFailure extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcFailure';
    this.code = code;
  }
}

/** The request of a client and the scope of one message. */
interface MethodCall {
  readonly scope: Scope;
  readonly exchange: McpExchange;
  readonly params: JsonObject;
}

/** Answers a request of a client. Rejects with an error of `rpcErrorOf`. */
type Method = (call: MethodCall) => Promise<JsonObject> | JsonObject;

/** A list of tools with the prefixes of their servers. */
function renderListing(listing: McpToolListing): JsonObject {
  const meta = listMetaOf(listing);
  return { ...(meta === undefined ? {} : { _meta: meta }), tools: listing.tools.map(prefixedTool) };
}

function renderResult({ content, structuredContent, isError, _meta }: McpToolResult): JsonObject {
  return {
    ...(_meta === undefined ? {} : { _meta }),
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    isError: isError ?? false,
  };
}

const failedResult = (message: string): JsonObject => ({
  content: [{ type: 'text', text: `Error: ${message}` }],
  isError: true,
});

async function listTools({ scope, exchange: { request } }: MethodCall): Promise<JsonObject> {
  return renderListing(await listMcpTools(scope, request));
}

/** Calls a tool. A failure is a result, so that the model of the client reads it. */
async function callTool({ scope, exchange: { request, refusal }, params }: MethodCall): Promise<JsonObject> {
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string' || !isJsonObject(args)) throw invalidParams();
  if (refusal !== null) return failedResult('User not allowed to call this tool.');
  try {
    return renderResult(await callMcpTool(scope, { ...request, name, args }));
  } catch (error) {
    // An aborted call has no answer.
    if (!(error instanceof DomainError) || scope.signal.aborted) throw error;
    return failedResult(error.message);
  }
}

const invalidParams = (): RpcFailure => new RpcFailure(RPC_CODES.invalidParams, 'Invalid request parameters');

/** A text member of params. Throws RpcFailure. */
function textIn(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === 'string') return value;
  throw invalidParams();
}

/** Methods by name. Prompts and resources of servers are not passed on (docs/differences.md). */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => ({})],
  ['tools/list', listTools],
  ['tools/call', callTool],
  ['prompts/list', () => ({ prompts: [] })],
  ['resources/list', () => ({ resources: [] })],
  ['resources/templates/list', () => ({ resourceTemplates: [] })],
  [
    'prompts/get',
    ({ params }) => {
      throw new RpcFailure(RPC_CODES.invalidParams, `Unknown prompt: ${textIn(params, 'name')}`);
    },
  ],
  [
    'resources/read',
    ({ params }) => {
      throw new RpcFailure(RESOURCE_NOT_FOUND, `Resource not found: ${textIn(params, 'uri')}`);
    },
  ],
]);

/** Code of the specification for an unknown resource. */
const RESOURCE_NOT_FOUND = -32_002;

/** Answers a request. Rejects with an error of `rpcErrorOf`. */
export async function runMethod(name: string, call: MethodCall): Promise<JsonObject> {
  const method = METHODS.get(name);
  if (method === undefined) throw new RpcFailure(RPC_CODES.unknownMethod, 'Method not found');
  return await method(call);
}

/** A failure as an error of JSON-RPC. The message of an unexpected failure is general. */
export function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcFailure) return { code: error.code, message: error.message };
  if (error instanceof Forbidden) return { code: RPC_CODES.invalidRequest, message: error.message };
  if (error instanceof DomainError) return { code: RPC_CODES.internal, message: error.message };
  return { code: RPC_CODES.internal, message: INTERNAL_MESSAGE };
}

/** Whether a failure is a bug or an error of the machine. */
export const isUnexpected = (error: unknown): boolean => !(error instanceof RpcFailure || error instanceof DomainError);
