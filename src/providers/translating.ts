import { collect } from '../domain/bytes.ts';
import { isChatDelta } from '../domain/chat/answer-step.ts';
import type { Exchange, ModelRequest, Outcome } from '../domain/chat/chat.ts';
import { type Loss, Losses, type NeutralChat } from '../domain/chat/neutral-chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import { InvalidInput, Unsupported, UpstreamFailed } from '../domain/errors.ts';
import { evictOldest } from '../domain/evict-oldest.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { AnswerContext, InboundDialect, OutboundDialect } from '../wire/dialect.ts';
import { INBOUND } from '../wire/dialects.ts';
import { wholeExchange } from '../wire/exchange.ts';
import { parseJson } from '../wire/json/fields.ts';
import { malformed } from '../wire/malformed.ts';
import { translatedStream } from '../wire/translate.ts';
import type { TokenCounter } from './counting.ts';
import { errorInAnswer } from './failures.ts';
import type { NativeProvider } from './http-provider.ts';

/** Endpoint and dialect to which requests of other dialects are translated. */
export interface TranslationTarget {
  readonly endpoint: Endpoint;
  readonly dialect: OutboundDialect;
}

/**
 * Extends a native provider to callers of all dialects. Requests in a dialect of the upstream are not translated. All
 * others are translated to the target of `targetOf`, and their answers back. When an endpoint that the upstream may
 * lack is absent, the request is translated, and the endpoint is not called again for 10 minutes (`AbsentEndpoints`).
 * Settings that the upstream does not support are rejected with InvalidInput, or dropped and reported in `dropped`.
 */
export function withTranslation(
  native: NativeProvider,
  targetOf: (deployment: Deployment) => TranslationTarget,
): Provider {
  const absentEndpoints = createAbsentEndpoints();
  const { preview } = native;
  const mayLackEndpoint = native.mayLackEndpoint?.bind(native) ?? ((): boolean => false);
  /** Sends a request without translation. Null when the upstream does not have the endpoint. */
  async function sendNative(
    deployment: Deployment,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<Exchange | null> {
    const { endpoint } = request;
    if (!native.supportsEndpoint(endpoint, deployment) || absentEndpoints.has(endpoint, deployment)) return null;
    try {
      return await native.send(deployment, request, signal);
    } catch (failure) {
      if (mayLackEndpoint(endpoint, deployment) && absentEndpoints.record(failure, request, deployment)) return null;
      throw failure;
    }
  }
  async function sendOrTranslate(
    deployment: Deployment,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const nativeExchange = await sendNative(deployment, request, signal);
    if (nativeExchange !== null) return nativeExchange;
    const { translated, inbound, outbound, dropped } = translation(deployment, request, targetOf);
    const exchange = await native.send(deployment, translated, signal);
    const answer = await translatedAnswer(exchange, { deployment, request, inbound, outbound });
    return dropped.length === 0 ? answer : { ...answer, dropped };
  }
  return {
    name: native.name,
    ...(native.pass === undefined ? {} : { pass: native.pass }),
    ...(native.tokenCounter === undefined ? {} : { countTokens: translatedCount(native.tokenCounter, targetOf) }),
    ...(preview === undefined ? {} : { preview: translatedPreview(native, preview, targetOf) }),
    send(deployment, request, signal) {
      const { endpoint } = request;
      const isSurelyPresent =
        native.supportsEndpoint(endpoint, deployment) &&
        !mayLackEndpoint(endpoint, deployment) &&
        !absentEndpoints.has(endpoint, deployment);
      // Most calls are sent directly, which saves the promises of `sendOrTranslate`.
      return isSurelyPresent ? native.send(deployment, request, signal) : sendOrTranslate(deployment, request, signal);
    },
  };
}

/** A request in the dialect of its upstream, with both dialects for the translation of its answer. */
interface TranslatedRequest {
  readonly translated: ModelRequest;
  readonly inbound: InboundDialect;
  readonly outbound: OutboundDialect;
  /** Members of the caller's request that are dropped. */
  readonly dropped: readonly string[];
}

/** A dropped tool, in contrast to a dropped member of a tool. It may be the one that the tool choice names. */
const WHOLE_TOOL = /^tools\[\d+\]$/;

/** Maximum length of a name of the caller in a message. */
const MAX_SHOWN_NAME = 100;

/**
 * Translates a request. Throws Unsupported for an endpoint without a translation. Throws InvalidInput for an invalid
 * request, and for essential members that the upstream does not support and that may not be dropped.
 */
function translation(
  deployment: Deployment,
  request: ModelRequest,
  targetOf: (deployment: Deployment) => TranslationTarget,
): TranslatedRequest {
  const inbound = request.endpoint.dialect === null ? undefined : INBOUND[request.endpoint.dialect];
  if (inbound === undefined) throw unsupportedEndpoint(deployment, request);
  const target = targetOf(deployment);
  const losses = new Losses();
  const chat = inbound.readRequest(request.body, losses);
  if (requestsUnavailableStorage(request)) losses.hint('store');
  const translated = translatedRequest(request, { ...chat, model: deployment.upstreamModel }, target, losses);
  const dropped = droppedOf(losses.all(), deployment, request);
  if (!dropped.some((member) => WHOLE_TOOL.test(member))) assertChosenTool(chat);
  return { translated, inbound, outbound: target.dialect, dropped };
}

/** Throws InvalidInput when the tool choice names a tool that the request does not have. */
function assertChosenTool({ tools, toolChoice }: NeutralChat): void {
  if (toolChoice?.mode !== 'tool' || tools.some(({ name }) => name === toolChoice.name)) return;
  const name = toolChoice.name.slice(0, MAX_SHOWN_NAME);
  throw malformed('tool_choice', `the name of a tool in the request, not '${name}'`);
}

const translatedPreview =
  (
    native: NativeProvider,
    preview: NonNullable<Provider['preview']>,
    targetOf: (deployment: Deployment) => TranslationTarget,
  ): NonNullable<Provider['preview']> =>
  async (deployment, request) => {
    if (native.supportsEndpoint(request.endpoint, deployment)) return await preview(deployment, request);
    const { translated, dropped } = translation(deployment, request, targetOf);
    return { ...(await preview(deployment, translated)), dropped };
  };

/** Counts the tokens of requests of all dialects. Members that the counter does not accept are not counted. */
function translatedCount(
  { endpoint, members, count }: TokenCounter,
  targetOf: (deployment: Deployment) => TranslationTarget,
): NonNullable<Provider['countTokens']> {
  return async (deployment, request, signal) => {
    const { dialect } = request.endpoint;
    const needsNoTranslation = dialect === null || dialect === endpoint.dialect;
    const inbound = needsNoTranslation ? undefined : INBOUND[dialect];
    if (inbound === undefined) return await count(deployment, request, signal);
    const losses = new Losses();
    const chat = { ...inbound.readRequest(request.body, losses), model: deployment.upstreamModel };
    const targetBody = targetOf(deployment).dialect.writeRequest(chat, losses);
    const body = Object.fromEntries(Object.entries(targetBody).filter(([member]) => members.includes(member)));
    return await count(deployment, { ...request, endpoint, body, bytes: Buffer.from(JSON.stringify(body)) }, signal);
  };
}

/** Whether the request sets `store: true`, but the answer cannot be stored. */
const requestsUnavailableStorage = ({ followUp, body }: ModelRequest): boolean =>
  followUp !== undefined && followUp.store === undefined && body['store'] === true;

function unsupportedEndpoint({ provider }: Deployment, { endpoint, model }: ModelRequest): Unsupported {
  return new Unsupported(
    `${endpoint.path}: The provider of the model "${model}" (${provider}) does not support this endpoint.`,
  );
}

function translatedRequest(
  request: ModelRequest,
  chat: NeutralChat,
  { endpoint, dialect }: TranslationTarget,
  losses: Losses,
): ModelRequest {
  const body = dialect.writeRequest(chat, losses);
  // The translated body already contains the replaced members.
  return { ...request, endpoint, body, bytes: Buffer.from(JSON.stringify(body)), replaced: {}, includeUsage: true };
}

/** Dropped members, to be reported to the caller. Throws InvalidInput when an essential one may not be dropped. */
function droppedOf(losses: readonly Loss[], deployment: Deployment, request: ModelRequest): readonly string[] {
  const mayDrop = deployment.dropParams || request.body['drop_params'] === true;
  const rejected = mayDrop ? [] : losses.filter(({ weight }) => weight === 'essential').map(({ member }) => member);
  const [first] = rejected;
  if (first === undefined) return [...new Set(losses.map(({ member }) => member))];
  const names = [...new Set(rejected)].map((member) => `'${member}'`).join(', ');
  const message = `${request.endpoint.path}: The provider of the model "${request.model}" (${deployment.provider}) does not support ${names}. Remove it from the request, or set drop_params to drop it.`;
  throw new InvalidInput(message, [{ path: ['body', first], rule: 'unsupported', message }]);
}

/** Current time in Unix seconds. */
const unixSeconds = (): number => Math.floor(Date.now() / 1000);

/** The outcome with the id that the caller sees. */
const withPublicId = (outcome: Outcome, { followUp }: ModelRequest): Outcome =>
  followUp === undefined ? outcome : { ...outcome, responseId: followUp.ownId };

/** Request and dialects of a translated answer. */
interface TranslationContext {
  readonly deployment: Deployment;
  readonly request: ModelRequest;
  readonly inbound: InboundDialect;
  readonly outbound: OutboundDialect;
}

/** The upstream's answer, translated to the caller's dialect. Throws UpstreamFailed for a failed complete answer. */
async function translatedAnswer(
  exchange: Exchange,
  { deployment, request, inbound, outbound }: TranslationContext,
): Promise<Exchange> {
  const { followUp } = request;
  const failed = ({ message, code }: { readonly message: string; readonly code: string }): Error =>
    errorInAnswer(deployment, { message, code, type: null, param: null });
  const context: AnswerContext = {
    model: request.model,
    fallbackId: crypto.randomUUID(),
    createdAt: unixSeconds(),
    now: unixSeconds,
    includeUsage: request.includeUsage,
    body: request.body,
    ...(followUp === undefined ? {} : { followUp }),
  };
  const head = { status: exchange.status, headers: exchange.headers };
  if (exchange.streaming) {
    const writer = inbound.writer(context);
    return {
      ...head,
      streaming: true,
      bytes: translatedStream(exchange.bytes, outbound.reader(), writer, { failed }),
      outcome: () => withPublicId(exchange.outcome(), request),
      deltas: () => exchange.deltas(),
      pieces: () => exchange.pieces?.() ?? 0,
    };
  }
  const bytes = await collect(exchange.bytes, Number.POSITIVE_INFINITY);
  const steps = outbound.stepsOf(parseJson(bytes ?? new Uint8Array()));
  const failure = steps.find((step) => step.kind === 'failure');
  if (failure !== undefined) throw failed(failure);
  const answer = inbound.whole(steps, context);
  return wholeExchange(head, {
    bytes: Buffer.from(JSON.stringify(answer)),
    outcome: withPublicId(exchange.outcome(), request),
    deltas: () => steps.filter(isChatDelta),
  });
}

/**
 * Time for which an endpoint counts as absent, in ms. Afterwards the upstream is called again, because an update may
 * add the endpoint.
 */
const ABSENT_MS = 10 * 60_000;

/** Maximum number of recorded endpoints. It bounds the memory, because callers can choose addresses. */
const MAX_ENTRIES = 1_000;

/** Statuses for an unknown path or method. */
const ABSENT_STATUSES = new Set([404, 405, 501]);

/** Endpoints that answered with status 404, 405 or 501, by provider, address and path. */
export interface AbsentEndpoints {
  has(endpoint: Endpoint, deployment: Deployment): boolean;
  /** Records the endpoint of `request` when `failure` shows that it is absent. Returns whether it was recorded. */
  record(failure: unknown, request: ModelRequest, deployment: Deployment): boolean;
}

/** Creates an empty record. `nowMs` returns the current time in ms. */
export function createAbsentEndpoints(nowMs: () => number = Date.now): AbsentEndpoints {
  const absentUntil = new Map<string, number>();
  const keyOf = ({ path }: Endpoint, { provider, apiBase }: Deployment): string =>
    JSON.stringify([provider, apiBase, path]);
  return {
    has(endpoint, deployment) {
      if (absentUntil.size === 0) return false;
      const key = keyOf(endpoint, deployment);
      const until = absentUntil.get(key);
      if (until === undefined) return false;
      if (nowMs() < until) return true;
      absentUntil.delete(key);
      return false;
    },
    record(failure, request, deployment) {
      if (!isAbsence(failure, request)) return false;
      absentUntil.set(keyOf(request.endpoint, deployment), nowMs() + ABSENT_MS);
      evictOldest(absentUntil, MAX_ENTRIES);
      return true;
    },
  };
}

/** Whether a failure shows that the upstream does not have the endpoint. */
function isAbsence(failure: unknown, { body }: ModelRequest): boolean {
  if (!(failure instanceof UpstreamFailed) || !ABSENT_STATUSES.has(failure.upstreamStatus ?? 0)) return false;
  // A 404 can also be about the model, or about an earlier response that the request names.
  const namesResponse = (body['previous_response_id'] ?? body['conversation'] ?? null) !== null;
  const mayConcernOther = namesResponse || failure.upstreamCode === 'model_not_found';
  return failure.upstreamStatus !== 404 || !mayConcernOther;
}
