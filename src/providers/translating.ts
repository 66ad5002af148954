import { collect } from '../domain/bytes.ts';
import { isChatDelta } from '../domain/chat/answer-step.ts';
import type { Exchange, ModelRequest, Outcome } from '../domain/chat/chat.ts';
import { type Loss, Losses, type NeutralChat } from '../domain/chat/neutral-chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import { InvalidInput, Unsupported } from '../domain/errors.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { AnswerContext, InboundDialect, OutboundDialect } from '../wire/dialect.ts';
import { INBOUND } from '../wire/dialects.ts';
import { streamedExchange, wholeExchange } from '../wire/exchange.ts';
import { parseJson } from '../wire/json/fields.ts';
import { translatedStream } from '../wire/translate.ts';
import type { Counting } from './counting.ts';
import { errorInside } from './failures.ts';
import type { NativeProvider } from './http-provider.ts';

/** The endpoint and the dialect in which a provider is asked what came in the words of another. */
export interface TranslatedBy {
  readonly endpoint: Endpoint;
  readonly dialect: OutboundDialect;
}

/**
 * The same provider for callers of every dialect. What it answers itself goes through untouched; other conversations are
 * translated, there and back. What the upstream has no words for is refused with InvalidInput, or left out and named.
 */
export function translating(native: NativeProvider, by: (deployment: Deployment) => TranslatedBy): Provider {
  return {
    name: native.name,
    ...(native.pass === undefined ? {} : { pass: native.pass }),
    ...(native.counting === undefined ? {} : { countTokens: countingAll(native.counting, by) }),
    async send(deployment, request, signal) {
      if (native.answers(request.endpoint, deployment)) return await native.send(deployment, request, signal);
      const inbound = request.endpoint.dialect === null ? undefined : INBOUND[request.endpoint.dialect];
      if (inbound === undefined) throw notAnswered(deployment, request);
      const out = by(deployment);
      const losses = new Losses();
      const chat = inbound.readRequest(request.body, losses);
      if (isKeptInVain(request)) losses.hint('store');
      const sent = translatedRequest(request, { ...chat, model: deployment.upstreamModel }, out, losses);
      const dropped = droppedOf(losses.all(), deployment, request);
      const exchange = await native.send(deployment, sent, signal);
      const back = await answeredBack(exchange, { deployment, request, inbound, outbound: out.dialect });
      return dropped.length === 0 ? back : { ...back, dropped };
    },
  };
}

/** Counts requests of every dialect: what the upstream has no words for is not counted. */
function countingAll(
  { endpoint, members, count }: Counting,
  by: (deployment: Deployment) => TranslatedBy,
): NonNullable<Provider['countTokens']> {
  return async (deployment, request, signal) => {
    const { dialect } = request.endpoint;
    const inbound = dialect === null || dialect === endpoint.dialect ? undefined : INBOUND[dialect];
    if (inbound === undefined) return await count(deployment, request, signal);
    const losses = new Losses();
    const chat = { ...inbound.readRequest(request.body, losses), model: deployment.upstreamModel };
    const written = by(deployment).dialect.writeRequest(chat, losses);
    const body = Object.fromEntries(Object.entries(written).filter(([member]) => members.includes(member)));
    return await count(deployment, { ...request, endpoint, body, bytes: Buffer.from(JSON.stringify(body)) }, signal);
  };
}

/** Whether a caller asks for an answer to be kept that nobody will keep. */
const isKeptInVain = ({ followUp, body }: ModelRequest): boolean =>
  followUp !== undefined && followUp.keep === undefined && body['store'] === true;

function notAnswered({ provider }: Deployment, { endpoint, model }: ModelRequest): Unsupported {
  return new Unsupported(`${endpoint.path}: The provider of the model "${model}" (${provider}) does not answer this.`);
}

function translatedRequest(
  request: ModelRequest,
  chat: NeutralChat,
  { endpoint, dialect }: TranslatedBy,
  losses: Losses,
): ModelRequest {
  const body = dialect.writeRequest(chat, losses);
  // What was replaced is in these words by now.
  return { ...request, endpoint, body, bytes: Buffer.from(JSON.stringify(body)), replaced: {}, includeUsage: true };
}

/** The members left out, for the caller to be told. Throws InvalidInput when one of them may not be. */
function droppedOf(losses: readonly Loss[], deployment: Deployment, request: ModelRequest): readonly string[] {
  const mayDrop = deployment.dropParams || request.body['drop_params'] === true;
  const refused = mayDrop ? [] : losses.filter(({ weight }) => weight === 'essential').map(({ member }) => member);
  const [first] = refused;
  if (first === undefined) return [...new Set(losses.map(({ member }) => member))];
  const named = [...new Set(refused)].map((member) => `'${member}'`).join(', ');
  const message = `${request.endpoint.path}: The provider of the model "${request.model}" (${deployment.provider}) has nothing like ${named}. Leave it out, or set drop_params to have that done.`;
  throw new InvalidInput(message, [{ path: ['body', first], rule: 'unsupported', message }]);
}

/** Unix seconds. */
const now = (): number => Math.floor(Date.now() / 1000);

/** The outcome of an answer under the id its caller knows. */
const named = (outcome: Outcome, { followUp }: ModelRequest): Outcome =>
  followUp === undefined ? outcome : { ...outcome, responseId: followUp.ownId };

/** Between whom an answer is translated. */
interface Between {
  readonly deployment: Deployment;
  readonly request: ModelRequest;
  readonly inbound: InboundDialect;
  readonly outbound: OutboundDialect;
}

/** The upstream's answer in the caller's dialect. */
async function answeredBack(
  exchange: Exchange,
  { deployment, request, inbound, outbound }: Between,
): Promise<Exchange> {
  const { followUp } = request;
  const failed = ({ message, code }: { readonly message: string; readonly code: string }): Error =>
    errorInside(deployment, { message, code, type: null, param: null });
  const about: AnswerContext = {
    model: request.model,
    fallbackId: crypto.randomUUID(),
    createdAt: now(),
    now,
    includeUsage: request.includeUsage,
    body: request.body,
    ...(followUp === undefined ? {} : { followUp }),
  };
  const head = { status: exchange.status, headers: exchange.headers };
  if (exchange.streaming) {
    const writer = inbound.writer(about);
    return streamedExchange(head, translatedStream(exchange.bytes, outbound.reader(), writer, { failed }), {
      outcome: () => named(exchange.outcome(), request),
      deltas: () => exchange.deltas(),
    });
  }
  const bytes = await collect(exchange.bytes, Number.POSITIVE_INFINITY);
  const steps = outbound.stepsOf(parseJson(bytes ?? new Uint8Array()));
  const failure = steps.find((step) => step.kind === 'failure');
  if (failure !== undefined) throw failed(failure);
  const answer = inbound.whole(steps, about);
  return wholeExchange(head, {
    bytes: Buffer.from(JSON.stringify(answer)),
    outcome: named(exchange.outcome(), request),
    deltas: () => steps.filter(isChatDelta),
  });
}
