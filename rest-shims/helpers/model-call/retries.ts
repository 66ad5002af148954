import { isJsonObject } from '../../../src/domain/json-object.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { invalidType, type RequestBody } from '../../../src/domain/inference/request-validation.ts';
import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import { isGatewayField } from '../../../src/domain/inference/gateway-fields.ts';
import type { Fallback, Retries } from '../../../src/domain/inference/retries.ts';
import { MAX_RETRIES } from '../../../src/domain/routing/routing-policy.ts';
import type { HttpRequest } from '../http/route.ts';

const RETRY_COUNT = `a whole number from 0 to ${MAX_RETRIES}`;

/** Maximum number of fallbacks in a request. A call tries the first `MAX_FALLBACKS` (`routing-policy.ts`). */
const MAX_NAMED_FALLBACKS = 20;

const NUM_RETRIES = 'x-litellm-num-retries';

/** Members that select a streamed answer. A fallback cannot change them. */
const STREAM_MEMBERS = new Set(['stream', 'stream_options']);

/**
 * Members of Responses requests that refer to stored objects. A fallback cannot change them, because access is checked
 * only for the objects that the request names.
 */
const REFERENCE_MEMBERS = new Set(['input', 'previous_response_id', 'conversation']);

/** An endpoint and the body that is sent to it. */
interface EndpointCall {
  readonly endpoint: Endpoint;
  readonly body: RequestBody;
}

/** Retries and fallbacks of a request, from headers and body. Throws InvalidInput. */
export function retriesOf(
  request: Pick<HttpRequest, 'headers'>,
  { endpoint, body }: EndpointCall,
): { readonly retries?: Retries } {
  const count = countInHeader(request, endpoint) ?? countInBody(body, endpoint);
  const fallbacks = fallbacksOf(body, endpoint);
  const contextFallbacks = contextFallbacksOf(body, endpoint);
  if (flagOf(body, 'disable_fallbacks', endpoint))
    return { retries: { count, fallbacks: [], contextFallbacks: new Map(), withoutFallbacks: true } };
  const namesNothing = count === null && fallbacks.length === 0 && contextFallbacks.size === 0;
  return namesNothing ? {} : { retries: { count, fallbacks, contextFallbacks, withoutFallbacks: false } };
}

const isRetryCount = (count: unknown): count is number =>
  typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_RETRIES;

function countInHeader({ headers }: Pick<HttpRequest, 'headers'>, { path }: Endpoint): number | null {
  const input = headers[NUM_RETRIES];
  if (input === undefined || input === '') return null;
  const count = typeof input === 'string' && /^\d+$/.test(input) ? Number(input) : Number.NaN;
  if (isRetryCount(count)) return count;
  const message = `${path}: Invalid value for header '${NUM_RETRIES}': it must be ${RETRY_COUNT}.`;
  throw new InvalidInput(message, [{ path: ['header', NUM_RETRIES], rule: 'value', message }]);
}

function countInBody(body: RequestBody, endpoint: Endpoint): number | null {
  const count = body['num_retries'] ?? null;
  if (count === null || isRetryCount(count)) return count;
  throw invalidType('num_retries', RETRY_COUNT, endpoint);
}

/** A boolean member. False when absent. Throws InvalidInput. */
function flagOf(body: RequestBody, member: string, endpoint: Endpoint): boolean {
  const value = body[member] ?? false;
  if (typeof value === 'boolean') return value;
  throw invalidType(member, 'a boolean', endpoint);
}

function fallbacksOf(body: RequestBody, endpoint: Endpoint): readonly Fallback[] {
  const input = body['fallbacks'] ?? [];
  if (!Array.isArray(input) || input.length > MAX_NAMED_FALLBACKS)
    throw invalidType('fallbacks', `an array of at most ${MAX_NAMED_FALLBACKS} models`, endpoint);
  return input.map((one: unknown) => fallbackOf(one, endpoint));
}

function fallbackOf(input: unknown, endpoint: Endpoint): Fallback {
  if (isName(input)) return { model: input, members: {} };
  if (!isJsonObject(input) || !isName(input['model']))
    throw invalidType('fallbacks', 'an array of models by name, or of objects with a `model`', endpoint);
  const { model, ...members } = input;
  const isReference = (member: string): boolean => endpoint.input.form === 'items' && REFERENCE_MEMBERS.has(member);
  const protectedMember = Object.keys(members).find(
    (member) => isGatewayField(member) || STREAM_MEMBERS.has(member) || isReference(member),
  );
  if (protectedMember !== undefined)
    throw invalidType('fallbacks', `an array of models with replaced members, without '${protectedMember}'`, endpoint);
  // Members can be replaced in JSON bodies only, not in forms.
  if (endpoint.requestEncoding !== undefined && Object.keys(members).length > 0)
    throw invalidType('fallbacks', 'an array of models by name', endpoint);
  return { model, members };
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Fallback models with a larger context window, by the model that they replace. Throws InvalidInput. */
function contextFallbacksOf(body: RequestBody, endpoint: Endpoint): ReadonlyMap<string, string> {
  const member = 'context_window_fallback_dict';
  const input = body[member] ?? {};
  if (!isJsonObject(input) || !Object.values(input).every(isName) || Object.keys(input).length > MAX_NAMED_FALLBACKS)
    throw invalidType(
      member,
      `an object of at most ${MAX_NAMED_FALLBACKS} models by the models that they replace`,
      endpoint,
    );
  return new Map(Object.entries(input).map(([model, fallback]) => [model, String(fallback)]));
}
