import type { Caller } from '../../../src/domain/caller.ts';
import { DomainError, InvalidInput } from '../../../src/domain/errors.ts';
import type { RequestBody } from '../../../src/domain/inference/request-validation.ts';
import { proxyError } from '../http/dialect-errors.ts';
import { renderError, statusOf } from '../../errors.ts';
import { failureHeaders } from '../http/failure-headers.ts';
import type { RouteRow } from '../http/route.ts';
import { parseBody } from '../http/json-body.ts';

/** OpenAI's format of `stream_id`, the name of a lane. Responses of one lane are created in sequence. */
const LANE = /^[\w.-]{1,256}$/;

/** Error for an invalid member of a client event. */
export function invalidMember(member: string, rule: string, text: string): InvalidInput {
  const message = `/responses: ${text}`;
  return new InvalidInput(message, [{ path: ['body', member], rule, message }]);
}

/** Parses a client event. Throws InvalidInput for an invalid body and for an unknown type. */
export function readEvent(bytes: Uint8Array): RequestBody {
  const event = parseBody(bytes);
  const { type } = event;
  if (type === 'response.create' || type === 'response.steer') return event;
  throw invalidMember('type', 'choice', "The parameter 'type' must be 'response.create'.");
}

/** Lane of an event; null for the unnamed lane. Throws InvalidInput. */
export function laneOf({ stream_id: streamId }: RequestBody): string | null {
  if (streamId === undefined || streamId === null) return null;
  if (typeof streamId === 'string' && LANE.test(streamId)) return streamId;
  const text =
    "The parameter 'stream_id' must be a text of 1 to 256 letters, digits, underscores, hyphens and periods, or left out.";
  throw invalidMember('stream_id', 'invalid_stream_id', text);
}

/** Failure event for `response.steer`: no upstream accepts input to a running response. */
export const steerRefusal = ({ input, previous_response_id: previousId }: RequestBody): object => ({
  type: 'response.steer.failed',
  sequence_number: 0,
  steer: { previous_response_id: previousId, input },
  error: {
    type: 'invalid_request_error',
    code: 'steering_not_supported',
    message: 'A running response does not accept input. Send the input when the response has ended.',
  },
});

/** Issue rules that are error codes of OpenAI. */
const CODES = new Set([
  'invalid_stream_id',
  'websocket_stream_limit_reached',
  'websocket_connection_limit_reached',
  'previous_response_not_found',
]);

/** Error event of a failure, and its status. */
export function errorEventOf(
  row: RouteRow,
  failure: unknown,
  {
    streamId,
    caller,
    number,
  }: {
    /** Lane of the event; null for the unnamed lane, and for an error outside any lane. */
    readonly streamId: string | null;
    readonly caller: Caller | null;
    /** `sequence_number` of the event in its stream; absent without a stream. */
    readonly number?: number;
  },
): { readonly event: object; readonly status: number } {
  const error = failure instanceof DomainError ? failure : null;
  const status = statusOf('proxy', error);
  const { message, type, param, code } = proxyError(status, error);
  const rule = error instanceof InvalidInput ? error.issues[0]?.rule : undefined;
  const headers = {
    ...failureHeaders(row, { error: failure, headers: {}, caller }),
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
