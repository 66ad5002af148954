import type { Clock } from '../../domain/clock.ts';
import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import type { Decider } from '../../domain/decisions/decider.ts';
import { calibrateAnswer, PLATFORM_SCOPE, type Temperatures } from '../../domain/decisions/calibration.ts';
import type {
  Answer,
  Decision,
  DecisionFormat,
  DecisionRequest,
  MadeDecision,
  Question,
} from '../../domain/decisions/decision.ts';
import { mergeEarlierAnswers } from '../../domain/decisions/earlier-answers.ts';
import { answersToAll, fitDecision } from '../../domain/decisions/fit.ts';
import { DECIDER_NAMES } from '../../domain/decisions/providers.ts';
import { InvalidInput } from '../../domain/errors.ts';
import type { HttpClient } from '../../domain/http.ts';
import { DECISIONS, SYSTEM_ONE } from '../../domain/inference/endpoint.ts';
import { isImageAddress, readAttachments } from '../../wire/decisions/attachments.ts';
import { writeNamedMapAnswer } from '../../wire/decisions/named-map-answer.ts';
import { readNamedMap } from '../../wire/decisions/named-map-request.ts';
import { writeStandardAnswer } from '../../wire/decisions/standard-answer.ts';
import { readStandard } from '../../wire/decisions/standard-request.ts';
import { wholeExchange } from '../../wire/exchange.ts';
import { createChatDecider } from './chat-decider.ts';
import { createNativeDecider, fitTermsOf } from './native-decider.ts';
import { DECISION_VENDORS } from './vendors.ts';

/** Selects the decider of a deployment; null when its model cannot decide. */
export type DeciderOf = (deployment: Deployment) => Decider | null;

/** Selects the decider of the deployment's vendor. Null for a vendor without decision models. */
export function createNativeDeciders(http: HttpClient): DeciderOf {
  const deciders = new Map(
    Object.entries(DECISION_VENDORS).map(([name, vendor]) => [name, createNativeDecider(http, vendor)]),
  );
  return ({ provider }) => deciders.get(provider) ?? null;
}

/** Configured modes of chat models. */
const CHAT_MODES = new Set<string | null | undefined>([undefined, null, 'chat', 'completion', 'responses']);

/**
 * Adds the chat decider to `nativeDeciderOf`: for chat models of a provider without decision models, and for each
 * deployment with `use_chat_for_decisions`.
 */
export function withChatDecider(nativeDeciderOf: DeciderOf, chat: Provider, clock: Clock): DeciderOf {
  const chatDecider = createChatDecider(chat, clock);
  return (deployment) => {
    if (deployment.decidesByChat === true) return chatDecider;
    return nativeDeciderOf(deployment) ?? (CHAT_MODES.has(deployment.probe?.mode) ? chatDecider : null);
  };
}

/** Formats of decisions, by the path of their endpoint. */
const FORMATS: ReadonlyMap<string, DecisionFormat> = new Map([
  [DECISIONS.path, 'standard'],
  [SYSTEM_ONE.path, 'named-map'],
]);

/** Adds decisions to a provider. The provider itself answers all other calls. */
export function withDecisions(provider: Provider, deciderOf: DeciderOf, temperatures: Temperatures): Provider {
  return {
    ...provider,
    send(deployment, request, signal) {
      const format = FORMATS.get(request.endpoint.path);
      if (format === undefined) return provider.send(deployment, request, signal);
      return sendDecision({ deployment, request, format, decider: deciderOf(deployment), signal, temperatures });
    },
  };
}

interface DecisionCall {
  readonly deployment: Deployment;
  readonly request: ModelRequest;
  readonly format: DecisionFormat;
  /** Null when the model of the deployment cannot decide. */
  readonly decider: Decider | null;
  readonly signal: AbortSignal;
  readonly temperatures: Temperatures;
}

/**
 * Sends a decision and renders its answer. Throws InvalidInput for an invalid request and for a model that cannot
 * decide, and what the decider throws.
 */
async function sendDecision({
  deployment,
  request,
  format,
  decider,
  signal,
  temperatures,
}: DecisionCall): Promise<Exchange> {
  if (decider === null) throw unknownProvider(deployment);
  const { body } = request;
  const fitTerms = fitTermsOf(deployment, request);
  const core = format === 'standard' ? readStandard(body) : readNamedMap(body, request.bytes);
  // `earlier.open` lists the questions that an earlier model refused or answered weakly. Only these are sent.
  const { earlier } = request;
  const positions = earlier?.open ?? [...core.questions.keys()];
  const questions = positions.flatMap((position) => core.questions[position] ?? []);
  const decisionRequest: DecisionRequest = { ...core, questions, ...readAttachments(body, format, fitTerms.drop) };
  decider.assertCallable(deployment);
  const fit = fitDecision(decisionRequest, decider.abilities(deployment, request), fitTerms, isImageAddress);
  const { outcomeScope: scope = PLATFORM_SCOPE } = request;
  const calibratedAnswer = (question: Question, answer: Answer): Answer =>
    calibrateAnswer(question, answer, { model: fitTerms.model, scope, temperatures });
  /**
   * Reports an answer of the decider. `index` is the place of its question among the sent questions, `position` its
   * place in the caller's request.
   */
  function answered(index: number, answer: Answer): void {
    const position = positions[fit.sent[index] ?? index] ?? index;
    const question = core.questions[position];
    if (question !== undefined) request.answered?.({ position, question, answer: calibratedAnswer(question, answer) });
  }
  const upstreamDecision = await decider.decide(deployment, fit.decision, { request, signal, answered });
  const uncalibrated = answersToAll(questions.length, fit, upstreamDecision.answers);
  const answers = questions.map((question, index) =>
    calibratedAnswer(question, uncalibrated[index] ?? { kind: 'refusal' }),
  );
  const newDecision = { ...upstreamDecision, answers };
  const { questions: asked } = core;
  // The decision stays that of the first model. After a merge, each answer names its own model.
  const made: MadeDecision =
    earlier === undefined
      ? { qualifiedModel: fitTerms.model, questions: asked, decision: newDecision }
      : mergeEarlierAnswers(earlier, asked, { decision: newDecision, model: fitTerms.model });
  const exchangeOf = (one: MadeDecision): Exchange => {
    const text = answerText(format, one, fitTerms.model);
    const outcome = outcomeOf(newDecision, text, request);
    return {
      ...wholeExchange({ status: 200, headers: {} }, { bytes: Buffer.from(text), outcome, deltas: () => [] }),
      decision: one,
      withDecision: exchangeOf,
      ...(fit.dropped.length === 0 ? {} : { dropped: fit.dropped }),
    };
  };
  return exchangeOf(made);
}

function answerText(format: DecisionFormat, { decision, questions }: MadeDecision, model: string): string {
  if (format === 'named-map') return writeNamedMapAnswer(decision, questions);
  return JSON.stringify(writeStandardAnswer(decision, questions, model));
}

const outcomeOf = (
  { model, usage, charged }: Decision,
  text: string,
  { textLimit }: ModelRequest,
): ReturnType<Exchange['outcome']> => ({
  responseId: null,
  responseModel: model,
  finishReason: null,
  usage,
  ...(charged === undefined ? {} : { charged }),
  failure: null,
  text: textLimit === undefined ? null : text.slice(0, textLimit),
});

function unknownProvider({ provider }: Deployment): InvalidInput {
  const names = [...DECIDER_NAMES].join(', ');
  return new InvalidInput(
    `litellm.BadRequestError: Unknown Decisions provider '${provider}'. Supported providers: ${names}`,
  );
}
