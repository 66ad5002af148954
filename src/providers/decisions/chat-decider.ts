import { collect } from '../../domain/bytes.ts';
import type { ModelRequest, Usage } from '../../domain/chat/chat.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Decider, DecisionTerms } from '../../domain/decisions/decider.ts';
import type { Answer, DecisionInput, DecisionRequest, Question } from '../../domain/decisions/decision.ts';
import { answerOf, type LabelledQuestion } from '../../domain/decisions/distribution.ts';
import { sumOfUsages } from '../../domain/decisions/groups.ts';
import { InvalidInput, Unsupported, UpstreamFailed } from '../../domain/errors.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
import { readLabels, TOP_LOGPROBS } from '../../wire/decisions/chat/label-reading.ts';
import { labelMessages, labelsOf, type PromptMessage } from '../../wire/decisions/chat/prompt.ts';
import { votedAnswer, votedLabel } from '../../wire/decisions/chat/votes.ts';
import { weightedAnswers, weightMessages, weightSchema, weightsIn } from '../../wire/decisions/chat/weights.ts';
import { type Fields, parseJson } from '../../wire/json/fields.ts';
import { unusableAnswer } from '../failures.ts';
import { inParallel } from '../../domain/in-parallel.ts';

/** Maximum concurrent calls of one decision. */
const CONCURRENCY = 16;
/** Maximum number of questions of one call that asks the model for weights (see `createChatDecider`). */
const MAX_QUESTIONS_PER_CALL = 32;
/** Maximum tokens of one vote: a label (one token that stands for an option), and text that some models add. */
const MAX_VOTE_TOKENS = 8;
/** Maximum bytes of one answer. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Time after which log probabilities are requested again from a deployment that reported none, in ms. */
const LOGPROBS_RETRY_MS = 10 * 60_000;
/** Upstream statuses for a request with an unsupported member. */
const UNSUPPORTED_STATUSES = new Set([400, 404, 405, 422, 501]);

/** Deployment and input of the calls of one decision. `usages` and `models` collect what the answers report. */
interface Calls {
  readonly deployment: Deployment;
  readonly terms: DecisionTerms;
  readonly input: DecisionInput;
  readonly usages: Usage[];
  readonly models: string[];
}

/**
 * Creates a decider that uses any chat model. It tries three methods for each question, in this order:
 * 1. Log probabilities of one token, where the upstream reports them: one call for each question.
 * 2. Votes, where the deployment sets `decisionVotes`: several equal calls for each question. Each answer names a
 *    label.
 * 3. Weights that the model states itself (`self_reported`): one call for up to 32 questions.
 * A question that no method answers gets a refusal as answer.
 */
export function createChatDecider(chat: Provider, clock: Clock): Decider {
  /** Deployments without log probabilities, with the time of the next attempt, in ms of the monotonic clock. */
  const logprobsRetryAtMs = new WeakMap<Deployment, number>();

  const mayReportLogprobs = (deployment: Deployment): boolean =>
    (logprobsRetryAtMs.get(deployment) ?? 0) <= clock.monotonicMs();

  /**
   * Calls the model and records its usage. Throws what the provider throws, and UpstreamFailed for an answer that is
   * not JSON or is too large.
   */
  async function ask(calls: Calls, messages: readonly PromptMessage[], settings: Fields): Promise<unknown> {
    const { deployment, terms } = calls;
    const body = { model: terms.request.model, messages, ...settings };
    const exchange = await chat.send(deployment, chatRequest(terms.request, body), terms.signal);
    const bytes = await collect(exchange.bytes, MAX_ANSWER_BYTES);
    const answer = bytes === null ? undefined : parseJson(bytes);
    if (answer === undefined) throw unusableAnswer(deployment, 'APIConnectionError', 'The answer is not JSON.');
    const { usage, responseModel } = exchange.outcome();
    if (usage !== null) calls.usages.push(usage);
    if (responseModel !== null) calls.models.push(responseModel);
    return answer;
  }

  /** Answer by log probabilities. Null when they are missing or unclear, or the question has too many options. */
  async function answerByLogprobs(calls: Calls, question: LabelledQuestion): Promise<Answer | null> {
    const labels = labelsOf(question);
    if (labels === null || labels.length > TOP_LOGPROBS || !mayReportLogprobs(calls.deployment)) return null;
    const settings = { max_tokens: 1, temperature: 1, logprobs: true, top_logprobs: TOP_LOGPROBS };
    const answer = await unlessUnsupported(ask(calls, labelMessages(calls.input, question, labels), settings));
    const reading =
      answer === null ? { kind: 'absent' as const } : readLabels(answer, labels, question.kind === 'predicate');
    if (reading.kind === 'absent') logprobsRetryAtMs.set(calls.deployment, clock.monotonicMs() + LOGPROBS_RETRY_MS);
    return reading.kind === 'read' ? answerOf(question, reading.probabilities, reading.evidence) : null;
  }

  /**
   * Answers by weights. Repeats the call without a schema when the first one fails as unsupported or has no JSON
   * object.
   */
  async function answersByWeights(calls: Calls, questions: readonly LabelledQuestion[]): Promise<readonly Answer[]> {
    const messages = weightMessages(calls.input, questions);
    const schema = { name: 'weights', strict: true, schema: weightSchema(questions) };
    const format = { response_format: { type: 'json_schema', json_schema: schema } };
    const first = await unlessUnsupported(ask(calls, messages, format));
    let weights = first === null ? null : weightsIn(first);
    weights ??= weightsIn(await ask(calls, messages, {}));
    return weights === null ? questions.map(() => ({ kind: 'refusal' })) : weightedAnswers(weights, questions);
  }

  /** Answers by votes: `count` calls for each question. Null for a question where too few answers name a label. */
  async function answersByVotes(
    calls: Calls,
    questions: readonly LabelledQuestion[],
    count: number,
  ): Promise<readonly (Answer | null)[]> {
    const samples = questions.flatMap((question) => Array.from({ length: count }, () => question));
    const votes = await inParallel(samples, CONCURRENCY, async (question) => {
      const labels = labelsOf(question);
      if (labels === null) return null;
      const settings = { max_tokens: MAX_VOTE_TOKENS, temperature: 1 };
      const answer = await unlessUnsupported(ask(calls, labelMessages(calls.input, question, labels), settings));
      return answer === null ? null : votedLabel(answer, labels, question.kind === 'predicate');
    });
    return questions.map((question, index) =>
      votedAnswer(question, labelsOf(question) ?? [], votes.slice(index * count, (index + 1) * count)),
    );
  }

  async function answersTo(calls: Calls, questions: readonly LabelledQuestion[]): Promise<readonly Answer[]> {
    const answers: (Answer | null)[] = questions.map(() => null);
    function setAnswer(index: number, answer: Answer | null | undefined): void {
      answers[index] = answer ?? null;
      if (answer) calls.terms.answered?.(index, answer);
    }
    const unanswered = (): readonly (readonly [number, LabelledQuestion])[] =>
      questions.flatMap((question, index) => (answers[index] === null ? [[index, question] as const] : []));

    // The first call shows whether there are log probabilities, and fills the prompt cache of the upstream.
    const [first, ...others] = unanswered();
    if (first === undefined) return [];
    setAnswer(first[0], await answerByLogprobs(calls, first[1]));
    await inParallel(others, CONCURRENCY, async ([index, question]) =>
      setAnswer(index, await answerByLogprobs(calls, question)),
    );

    const { decisionVotes = 0 } = calls.deployment;
    if (decisionVotes > 0) {
      const pending = unanswered();
      const pendingQuestions = pending.map(([_index, question]) => question);
      const voteAnswers = await answersByVotes(calls, pendingQuestions, decisionVotes);
      for (const [place, [index]] of pending.entries()) setAnswer(index, voteAnswers[place]);
    }

    const remaining = unanswered();
    const groups = Array.from({ length: Math.ceil(remaining.length / MAX_QUESTIONS_PER_CALL) }, (_unused, group) =>
      remaining.slice(group * MAX_QUESTIONS_PER_CALL, (group + 1) * MAX_QUESTIONS_PER_CALL),
    );
    await inParallel(groups, CONCURRENCY, async (group) => {
      const groupQuestions = group.map(([_index, question]) => question);
      const weightAnswers = await answersByWeights(calls, groupQuestions);
      for (const [place, [index]] of group.entries()) setAnswer(index, weightAnswers[place]);
    });
    return answers.map((answer): Answer => answer ?? { kind: 'refusal' });
  }

  return {
    abilities: () => ({
      safetyIdentifier: false,
      images: { types: null, most: null, mostBytes: null, mostBytesTogether: null, inline: false },
      imagesBesideState: false,
      assets: false,
      boxes: false,
      audio: false,
      videos: false,
    }),
    assertCallable() {},
    async decide(deployment, decision: DecisionRequest, terms) {
      const calls: Calls = { deployment, terms, input: decision.input, usages: [], models: [] };
      const answers = await answersTo(calls, decision.questions.filter(isLabelled));
      return {
        model: calls.models[0] ?? null,
        answers,
        usage: sumOfUsages(calls.usages),
        more: {},
        usageMore: {},
      };
    },
  };
}

/** Whether a question has labels. Box questions are rejected before `decide`, because `abilities` has no boxes. */
const isLabelled = (question: Question): question is LabelledQuestion => question.kind !== 'box';

/** The request of a chat completion with the caller's identity, credentials and deadline. */
function chatRequest(request: ModelRequest, body: Fields): ModelRequest {
  const { model, callId, parent, credentials, timeoutSeconds, owner } = request;
  return {
    endpoint: CHAT_COMPLETIONS,
    model,
    stream: false,
    includeUsage: false,
    bytes: Buffer.from(JSON.stringify(body)),
    body,
    callId,
    parent,
    ...(credentials === undefined ? {} : { credentials }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(owner === undefined ? {} : { owner }),
  };
}

/** Waits for an answer. Null when the upstream or its dialect does not support the request. Throws other failures. */
async function unlessUnsupported(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    const isUnsupported =
      error instanceof InvalidInput ||
      error instanceof Unsupported ||
      (error instanceof UpstreamFailed && UNSUPPORTED_STATUSES.has(error.upstreamStatus ?? 0));
    if (isUnsupported) return null;
    throw error;
  }
}
