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
import { unusable } from '../failures.ts';
import { inParallel } from '../../domain/in-parallel.ts';

/** Calls of one decision at the same time. */
const CONCURRENCY = 16;
/** Most questions of one call for weights. */
const QUESTIONS_PER_CALL = 32;
/** Most tokens of one vote: a label, and what some models write around it. */
const VOTE_TOKENS = 8;
/** Most bytes of one answer. */
const ANSWER_LIMIT = 1024 * 1024;
/** How long a deployment counts as one without log probabilities, in ms. */
const REMEMBERED_MS = 10 * 60_000;
/** Statuses of upstreams that do not support a member of the request. */
const UNSUPPORTED = new Set([400, 404, 405, 422, 501]);

/** Calls of one decision: where they go, and their sums. */
interface Calls {
  readonly deployment: Deployment;
  readonly terms: DecisionTerms;
  readonly input: DecisionInput;
  readonly usages: Usage[];
  readonly models: string[];
}

/**
 * Decides with any chat model. Log probabilities of one token are used where the upstream reports them: one call for each question.
 * Other questions are voted on where the deployment is configured so: the same call several times. For the rest, one call returns
 * weights, which are marked as self-reported. A question that no way answers is a refusal.
 */
export function createChatDecider(chat: Provider, clock: Clock): Decider {
  /** Deployments without log probabilities, and until when, in ms of the monotonic clock. */
  const withoutLogprobs = new WeakMap<Deployment, number>();

  const reportsLogprobs = (deployment: Deployment): boolean =>
    (withoutLogprobs.get(deployment) ?? 0) <= clock.monotonicMs();

  /** Asks the model, and adds its usage to the sums. Throws as the provider does, and UpstreamFailed for other text. */
  async function ask(calls: Calls, messages: readonly PromptMessage[], settings: Fields): Promise<unknown> {
    const { deployment, terms } = calls;
    const body = { model: terms.request.model, messages, ...settings };
    const exchange = await chat.send(deployment, chatRequest(terms.request, body), terms.signal);
    const bytes = await collect(exchange.bytes, ANSWER_LIMIT);
    const answer = bytes === null ? undefined : parseJson(bytes);
    if (answer === undefined) throw unusable(deployment, 'APIConnectionError', 'The answer is not JSON.');
    const { usage, responseModel } = exchange.outcome();
    if (usage !== null) calls.usages.push(usage);
    if (responseModel !== null) calls.models.push(responseModel);
    return answer;
  }

  /** The answer by log probabilities; null when they do not give one. */
  async function readOne(calls: Calls, question: LabelledQuestion): Promise<Answer | null> {
    const labels = labelsOf(question);
    if (labels === null || labels.length > TOP_LOGPROBS || !reportsLogprobs(calls.deployment)) return null;
    const settings = { max_tokens: 1, temperature: 1, logprobs: true, top_logprobs: TOP_LOGPROBS };
    const answer = await unlessUnsupported(ask(calls, labelMessages(calls.input, question, labels), settings));
    const reading =
      answer === null ? { kind: 'absent' as const } : readLabels(answer, labels, question.kind === 'predicate');
    if (reading.kind === 'absent') withoutLogprobs.set(calls.deployment, clock.monotonicMs() + REMEMBERED_MS);
    return reading.kind === 'read' ? answerOf(question, reading.probabilities, reading.evidence) : null;
  }

  /** Answers by weights. An answer that is no JSON object is requested once again. */
  async function weigh(calls: Calls, questions: readonly LabelledQuestion[]): Promise<readonly Answer[]> {
    const messages = weightMessages(calls.input, questions);
    const schema = { name: 'weights', strict: true, schema: weightSchema(questions) };
    const format = { response_format: { type: 'json_schema', json_schema: schema } };
    const first = await unlessUnsupported(ask(calls, messages, format));
    const weights = (first === null ? null : weightsIn(first)) ?? weightsIn(await ask(calls, messages, {}));
    return weights === null ? questions.map(() => ({ kind: 'refusal' })) : weightedAnswers(weights, questions);
  }

  /** Labels that samples of the answer name, by question. */
  async function votesOn(
    calls: Calls,
    questions: readonly LabelledQuestion[],
    count: number,
  ): Promise<readonly (Answer | null)[]> {
    const samples = questions.flatMap((question) => Array.from({ length: count }, () => question));
    const votes = await inParallel(samples, CONCURRENCY, async (question) => {
      const labels = labelsOf(question);
      if (labels === null) return null;
      const settings = { max_tokens: VOTE_TOKENS, temperature: 1 };
      const answer = await unlessUnsupported(ask(calls, labelMessages(calls.input, question, labels), settings));
      return answer === null ? null : votedLabel(answer, labels, question.kind === 'predicate');
    });
    return questions.map((question, index) =>
      votedAnswer(question, labelsOf(question) ?? [], votes.slice(index * count, (index + 1) * count)),
    );
  }

  async function answersTo(calls: Calls, questions: readonly LabelledQuestion[]): Promise<readonly Answer[]> {
    const answers: (Answer | null)[] = questions.map(() => null);
    function answerOne(index: number, answer: Answer | null | undefined): void {
      answers[index] = answer ?? null;
      if (answer) calls.terms.answered?.(index, answer);
    }
    const open = (): readonly (readonly [number, LabelledQuestion])[] =>
      questions.flatMap((question, index) => (answers[index] === null ? [[index, question] as const] : []));

    // The first call shows whether there are log probabilities, and fills the prompt cache of the upstream.
    const [first, ...others] = open();
    if (first === undefined) return [];
    answerOne(first[0], await readOne(calls, first[1]));
    await inParallel(others, CONCURRENCY, async ([index, question]) =>
      answerOne(index, await readOne(calls, question)),
    );

    const { decisionVotes = 0 } = calls.deployment;
    if (decisionVotes > 0) {
      const unread = open();
      const remaining = unread.map(([_index, question]) => question);
      const voted = await votesOn(calls, remaining, decisionVotes);
      for (const [place, [index]] of unread.entries()) answerOne(index, voted[place]);
    }

    const remaining = open();
    const groups = Array.from({ length: Math.ceil(remaining.length / QUESTIONS_PER_CALL) }, (_unused, group) =>
      remaining.slice(group * QUESTIONS_PER_CALL, (group + 1) * QUESTIONS_PER_CALL),
    );
    await inParallel(groups, CONCURRENCY, async (group) => {
      const ofGroup = group.map(([_index, question]) => question);
      const weighed = await weigh(calls, ofGroup);
      for (const [place, [index]] of group.entries()) answerOne(index, weighed[place]);
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

/** Boxes are refused before: no chat model reports one with a probability. */
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

/** The answer; null when the upstream, or its dialect, does not support the request. Other failures are thrown. */
async function unlessUnsupported(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    const refused =
      error instanceof InvalidInput ||
      error instanceof Unsupported ||
      (error instanceof UpstreamFailed && UNSUPPORTED.has(error.upstreamStatus ?? 0));
    if (refused) return null;
    throw error;
  }
}
