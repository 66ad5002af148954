import type { IncomingHttpHeaders } from 'node:http';
import { openRealtime } from '../resolvers/realtime.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { Ids } from '../src/domain/clock.ts';
import { DomainError, InvalidInput, Unauthenticated, Unsupported } from '../src/domain/errors.ts';
import type { RealtimeRequest } from '../src/domain/realtime/realtime.ts';
import type { SocketMessage } from '../src/domain/realtime/sockets.ts';
import { Secret } from '../src/domain/secret.ts';
import { VERSION } from '../src/domain/version.ts';
import { errorEvent } from '../src/wire/realtime/error-event.ts';
import { readCredential, requireCredential } from './helpers/http/credential.ts';
import { proxyError } from './helpers/http/dialect-errors.ts';
import { statusOf } from './errors.ts';
import { upgradeRequired, offeredProtocols, type UpgradeRequest } from './helpers/http/handshake.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { headerText } from './helpers/http/header-lines.ts';
import { callContext } from './helpers/model-call/model-call.ts';
import type { RouteRow } from './helpers/http/route.ts';

type RealtimeSession = Awaited<ReturnType<typeof openRealtime>>;

const MAX_MODEL_CHARACTERS = 512;
/** Subprotocols of browsers, which cannot set headers: prefix of the key, and event formats. */
const KEY_PROTOCOL = 'openai-insecure-api-key.';
const BETA_PROTOCOL = 'openai-beta.realtime-v1';
const REALTIME_PROTOCOL = 'realtime';

/** The realtime API, at the paths of OpenAI's and Azure's clients. */
export const realtimeRow: RouteRow = {
  name: 'realtime.connect',
  method: 'GET',
  paths: ['/v1/realtime', '/realtime', '/openai/v1/realtime', '/openai/realtime'],
  surface: 'proxy',
  credential: 'required',
  statuses: [101, 400, 401, 403, 422, 429, 500, 503],
  bodyLimit: 0,
  handle() {
    throw upgradeRequired('/realtime');
  },
};

export const realtimeRoutes: readonly RouteRow[] = [realtimeRow];

/** The key in a header, else in a subprotocol. Throws Unauthenticated. */
export function realtimeCredential(headers: IncomingHttpHeaders): Secret {
  const inHeader = readCredential(headers);
  const keyProtocol = offeredProtocols(headers).find((name) => name.startsWith(KEY_PROTOCOL));
  // Without a key in either place, `requireCredential` throws.
  if (inHeader !== null || keyProtocol === undefined) return new Secret(requireCredential(headers));
  const key = keyProtocol.slice(KEY_PROTOCOL.length);
  if (key === '') throw new Unauthenticated('No api key passed in: the key subprotocol is empty.', 'missing');
  return new Secret(key);
}

/**
 * Subprotocol of the answer; null if the client offers none of the event formats. A browser accepts only a subprotocol
 * that it has offered. The subprotocol with the key is never returned.
 */
export function selectedProtocol(headers: IncomingHttpHeaders): string | null {
  const names = offeredProtocols(headers);
  return [REALTIME_PROTOCOL, BETA_PROTOCOL].find((name) => names.includes(name)) ?? null;
}

function parseRequest({ search, headers }: UpgradeRequest): RealtimeRequest {
  const query = new URLSearchParams(search);
  if (query.has('call_id')) throw new Unsupported('/realtime: Joining a call (`call_id`) is not supported.');
  // Older Azure clients send `deployment`.
  const model = query.get('model') || query.get('deployment') || '';
  if (model === '') throw invalidParameter('model', 'missing', "Missing required parameter: 'model'.");
  if (model.length > MAX_MODEL_CHARACTERS)
    throw invalidParameter('model', 'length', `The name of a model has at most ${MAX_MODEL_CHARACTERS} characters.`);
  const intent = query.get('intent');
  if (intent !== null && intent !== 'transcription')
    throw invalidParameter('intent', 'choice', "The parameter 'intent' must be 'transcription' or left out.");
  return {
    model,
    intent,
    headers: upstreamHeaders(headers),
    ...callContext({ headers }),
    ...gatewayLabels({ headers }, {}, '/realtime'),
  };
}

function invalidParameter(name: string, rule: string, message: string): InvalidInput {
  return new InvalidInput(`/realtime: ${message}`, [{ path: ['query', name], rule, message }]);
}

/** Headers for the upstream: event format, and OpenAI's identifier of the end user for abuse detection. */
function upstreamHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {};
  const beta = headers['openai-beta'];
  if (typeof beta === 'string') forwarded['openai-beta'] = beta;
  else if (offeredProtocols(headers).includes(BETA_PROTOCOL)) forwarded['openai-beta'] = 'realtime=v1';
  const safety = headers['openai-safety-identifier'];
  if (typeof safety === 'string') forwarded['openai-safety-identifier'] = safety;
  return forwarded;
}

/**
 * Opens the requested session. Throws InvalidInput and Unsupported for a malformed request. Rejects with what
 * `openRealtime` throws.
 */
export const openSession = (scope: Scope, request: UpgradeRequest): Promise<RealtimeSession> =>
  openRealtime(scope, parseRequest(request));

/** Response headers of a session. */
export function sessionHeaders({ callId, modelGroup, deployment }: RealtimeSession): Readonly<Record<string, string>> {
  return {
    'x-litellm-call-id': callId,
    'x-litellm-model-id': headerText(deployment.id),
    'x-litellm-model-group': headerText(modelGroup),
    'x-litellm-version': VERSION,
  };
}

/** Error event of a failure. `clientEvent` is the event of the client that caused it; null for other failures. */
export function failureEvent(ids: Ids, failure: unknown, clientEvent: SocketMessage | null): SocketMessage {
  const error = failure instanceof DomainError ? failure : null;
  return errorEvent(`event_${ids.uuid()}`, proxyError(statusOf('proxy', error), error), clientEvent);
}
