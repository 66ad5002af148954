import type { Caller } from '../src/domain/caller.ts';
import { DomainError, InvalidInput } from '../src/domain/errors.ts';
import type { RequestBody } from '../src/domain/inference/askable.ts';
import { proxyError, renderError, statusOf } from './errors.ts';
import { failureHead } from './http/failure-headers.ts';
import type { RouteRow } from './http/route.ts';
import { parseBody } from './http/json-body.ts';

/** Names of lanes, as OpenAI has them. */
const LANE = /^[\w.-]{1,256}$/;

/** A fault in a member of a client's event. */
export function faultIn(member: string, rule: string, text: string): InvalidInput {
  const message = `/responses: ${text}`;
  return new InvalidInput(message, [{ path: ['body', member], rule, message }]);
}

/** A client's event, parsed. Throws InvalidInput for what is none that we know. */
export function readEvent(bytes: Uint8Array): RequestBody {
  const event = parseBody(bytes);
  const { type } = event;
  if (type === 'response.create' || type === 'response.steer') return event;
  throw faultIn('type', 'choice', "The parameter 'type' must be 'response.create'.");
}

/** The lane that an event is of; null for the one without a name. Throws InvalidInput. */
export function laneOf({ stream_id: streamId }: RequestBody): string | null {
  if (streamId === undefined || streamId === null) return null;
  if (typeof streamId === 'string' && LANE.test(streamId)) return streamId;
  const text =
    "The parameter 'stream_id' must be a text of 1 to 256 letters, digits, underscores, hyphens and periods, or left out.";
  throw faultIn('stream_id', 'invalid_stream_id', text);
}

/** The answer to input that is to reach a response under way: no upstream here takes any. */
export const unsteered = ({ input, previous_response_id: previousId }: RequestBody): object => ({
  type: 'response.steer.failed',
  sequence_number: 0,
  steer: { previous_response_id: previousId, input },
  error: {
    type: 'invalid_request_error',
    code: 'steering_not_supported',
    message: 'A response that is under way takes no further input here. Send it when the response has ended.',
  },
});

/** Rules whose names are OpenAI's codes for what breaks them on a connection. */
const CODES = new Set([
  'invalid_stream_id',
  'websocket_stream_limit_reached',
  'websocket_connection_limit_reached',
  'previous_response_not_found',
]);

/** A failure as the event that clients of a connection know, and the status it names. */
export function errorEventOf(
  row: RouteRow,
  failure: unknown,
  {
    streamId,
    caller,
    number,
  }: {
    /** The lane it is of; null for the one without a name, or where it is of none. */
    readonly streamId: string | null;
    readonly caller: Caller | null;
    /** Its place in the stream that it ends; absent where there was none. */
    readonly number?: number;
  },
): { readonly event: object; readonly status: number } {
  const error = failure instanceof DomainError ? failure : null;
  const status = statusOf('proxy', error);
  const { message, type, param, code } = proxyError(status, error);
  const rule = error instanceof InvalidInput ? error.issues[0]?.rule : undefined;
  const headers = {
    ...failureHead(row, { error: failure, headers: {}, caller }),
    ...renderError('proxy', error, {}).headers,
  };
  const event = {
    type: 'error',
    status,
    ...(number === undefined ? {} : { sequence_number: number }),
    ...(streamId === null ? {} : { stream_id: streamId }),
    error: {
      type: type ?? 'server_error',
      code: rule !== undefined && CODES.has(rule) ? rule : code,
      message,
      param,
      headers,
    },
  };
  return { event, status };
}
