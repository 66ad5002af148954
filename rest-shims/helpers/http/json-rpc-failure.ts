import { InvalidRpc, type RpcId } from '../../../src/domain/a2a-agents/json-rpc.ts';
import { attachFailedCall, failedCallOf } from '../../../src/domain/chat/failed-call.ts';
import {
  DomainError,
  type ErrorCode,
  Forbidden,
  InvalidInput,
  LimitExceeded,
  NotFound,
  Unauthenticated,
  Unsupported,
} from '../../../src/domain/errors.ts';
import { RPC_CODES } from '../../../src/domain/json-rpc-codes.ts';

/** Text of an error without a public message. */
const INTERNAL_RPC_MESSAGE = 'Internal error';

/** A failed JSON-RPC request, with the id of the request. */
export class JsonRpcFailure extends DomainError {
  readonly code: ErrorCode;
  readonly failure: DomainError;
  readonly id: RpcId;
  constructor(failure: DomainError, id: RpcId) {
    super(failure.message, { cause: failure });
    this.name = 'JsonRpcFailure';
    this.code = failure.code;
    this.failure = failure;
    attachFailedCall(this, failedCallOf(failure));
    this.id = id;
  }
}

/** Failures of keys, rights, budgets and limits. They have no JSON-RPC body, as in the reference. */
export const isOutsideRpc = (error: DomainError): boolean =>
  error instanceof Unauthenticated || error instanceof Forbidden || error instanceof LimitExceeded;

function rpcCodeOf(error: DomainError): number {
  if (error instanceof InvalidRpc) return error.rpcCode;
  if (error instanceof InvalidInput) return RPC_CODES.invalidRequest;
  if (error instanceof NotFound || error instanceof Unsupported || error.code === 'REJECTED') return RPC_CODES.server;
  return RPC_CODES.internal;
}

/** The JSON-RPC object of a failure. */
export function rpcError(error: DomainError | null, id: RpcId): object {
  const code = error === null ? RPC_CODES.internal : rpcCodeOf(error);
  return { jsonrpc: '2.0', id, error: { code, message: error?.message ?? INTERNAL_RPC_MESSAGE } };
}
