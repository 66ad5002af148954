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
import { readCredential, requireCredential } from './http/credential.ts';
import { proxyError, statusOf } from './errors.ts';
import { noUpgrade, offeredProtocols, type UpgradeRequest } from './http/handshake.ts';
import { callFactsOf, headerText } from './model-call/model-call.ts';
import type { RouteRow } from './http/route.ts';

type RealtimeSession = Awaited<ReturnType<typeof openRealtime>>;

const MOST_MODEL_CHARACTERS = 512;
/** The subprotocols by which browsers, that can set no headers, send a key and ask for a form of the events. */
const KEY_PROTOCOL = 'openai-insecure-api-key.';
const BETA_PROTOCOL = 'openai-beta.realtime-v1';
const REALTIME_PROTOCOL = 'realtime';

/** The realtime API, for both forms of the path that OpenAI's and Azure's clients know. */
export const realtimeRow: RouteRow = {
  name: 'realtime.connect',
  method: 'GET',
  paths: ['/v1/realtime', '/realtime', '/openai/v1/realtime', '/openai/realtime'],
  surface: 'proxy',
  // WebSockets are not counted as activity.
  category: null,
  credential: 'required',
  answers: [101, 400, 401, 403, 422, 429, 500, 503],
  bodyLimit: 0,
  handle() {
    throw noUpgrade('/realtime');
  },
};

export const realtimeRoutes: readonly RouteRow[] = [realtimeRow];

/** The key that came in a header, or as browsers send it. Throws Unauthenticated. */
export function realtimeCredential(headers: IncomingHttpHeaders): Secret {
  const inHeader = readCredential(headers);
  const asProtocol = offeredProtocols(headers).find((name) => name.startsWith(KEY_PROTOCOL));
  if (inHeader !== null || asProtocol === undefined) return new Secret(requireCredential(headers));
  const key = asProtocol.slice(KEY_PROTOCOL.length);
  if (key === '')
    throw new Unauthenticated('No api key passed in: the subprotocol that carries one is empty.', 'missing');
  return new Secret(key);
}

/** The subprotocol to choose; never one that carries a key. Browsers want one to be chosen of those they offer. */
export function chosenProtocol(headers: IncomingHttpHeaders): string | null {
  const names = offeredProtocols(headers);
  return [REALTIME_PROTOCOL, BETA_PROTOCOL].find((name) => names.includes(name)) ?? null;
}

function parseRequest({ search, headers }: UpgradeRequest): RealtimeRequest {
  const query = new URLSearchParams(search);
  if (query.has('call_id')) throw new Unsupported('/realtime: Joining a call (`call_id`) is not possible here.');
  // Azure's older clients name a deployment.
  const model = query.get('model') || query.get('deployment') || '';
  if (model === '') throw fault('model', 'missing', "Missing required parameter: 'model'.");
  if (model.length > MOST_MODEL_CHARACTERS)
    throw fault('model', 'length', `A model's name has at most ${MOST_MODEL_CHARACTERS} characters.`);
  const intent = query.get('intent');
  if (intent !== null && intent !== 'transcription')
    throw fault('intent', 'choice', "The parameter 'intent' must be 'transcription' or left out.");
  return { model, intent, headers: headersFor(headers), ...callFactsOf({ headers }) };
}

function fault(name: string, rule: string, message: string): InvalidInput {
  return new InvalidInput(`/realtime: ${message}`, [{ path: ['query', name], rule, message }]);
}

/** What goes on to the upstream: which form its events have, and whom OpenAI may hold a misuse against. */
function headersFor(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  const beta = headers['openai-beta'];
  if (typeof beta === 'string') kept['openai-beta'] = beta;
  else if (offeredProtocols(headers).includes(BETA_PROTOCOL)) kept['openai-beta'] = 'realtime=v1';
  const safety = headers['openai-safety-identifier'];
  if (typeof safety === 'string') kept['openai-safety-identifier'] = safety;
  return kept;
}

/** Opens the session that a request asks for. */
export const openSession = (scope: Scope, request: UpgradeRequest): Promise<RealtimeSession> =>
  openRealtime(scope, parseRequest(request));

/** What the head of the answer tells of a session. */
export function sessionHead({ callId, modelGroup, deployment }: RealtimeSession): Readonly<Record<string, string>> {
  return {
    'x-litellm-call-id': callId,
    'x-litellm-model-id': headerText(deployment.id),
    'x-litellm-model-group': headerText(modelGroup),
    'x-litellm-version': VERSION,
  };
}

/** A failure as the event that clients know; `about` is the event of theirs that it answers. */
export function failureEvent(ids: Ids, failure: unknown, about: SocketMessage | null): SocketMessage {
  const error = failure instanceof DomainError ? failure : null;
  return errorEvent(`event_${ids.uuid()}`, proxyError(statusOf('proxy', error), error), about);
}
