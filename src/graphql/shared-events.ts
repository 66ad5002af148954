import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  getOperationAST,
  validateSubscriptionArgs,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { hash } from 'node:crypto';
import type { Loaders } from '../../resolvers/operation/loaders.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import type { GraphContext } from '../../schema/builder.ts';
import { Work } from '../../schema/work.ts';
import { type Caller, visibilityOf } from '../domain/caller.ts';
import { toPollable, type PollableStream } from '../domain/pollable-stream.ts';
import type { Turns } from '../domain/event-loop-turns.ts';
import { type Answers, settled } from './answers.ts';
import { type Answer, Follower, InStep } from './shared-subscription.ts';

/** Cached results per operation. A subscriber that is further behind executes its events itself. */
const KEPT_ANSWERS = 16;

/** One operation that several subscribers run with equal rights. */
interface Question {
  followers: number;
  /** Whether every answer so far was there at once; null before the first. */
  prompt: boolean | null;
  /** By the key's hash, since each credential is asked anew before every event. */
  readonly inStep: Map<string, InStep>;
  /** By the event, the oldest first. */
  readonly answers: Map<object, Answer>;
}

/** A subscription that has begun: one result for each of its events, until `left`. */
export interface Followed {
  readonly results: PollableStream<ExecutionResult>;
  /** Called once, when the results are no longer read. */
  left(): void;
}

/**
 * Begins subscriptions, and executes each of their events once for all who ask the same of it: the document, its
 * operation, the variables, and what the caller may see must be equal, and the event be the very same object. An
 * answer with errors is for whom it went wrong alone; the others ask again. Gives the one result of a subscription
 * that could not begin.
 */
export function createSharedEvents(
  turns: Turns,
  answers: Answers,
): {
  follow(args: ExecutionArgs, scope: Scope): Promise<Followed | ExecutionResult>;
} {
  const questions = new Map<string, Question>();
  const numbers = new WeakMap<DocumentNode, number>();
  let documents = 0;

  /** Documents are told apart by identity: the parser's cache gives the same one for the same text. */
  function numberOf(document: DocumentNode): number {
    const known = numbers.get(document);
    if (known !== undefined) return known;
    documents += 1;
    numbers.set(document, documents);
    return documents;
  }

  function nameOf({ document, operationName, variableValues }: ExecutionArgs, caller: Caller | null): string {
    // None is what an empty set of them says.
    const variables = Object.keys(variableValues ?? {}).length === 0 ? null : variableValues;
    const operation = getOperationAST(document, operationName)?.name?.value ?? null;
    const asked = [numberOf(document), operation, variables, rightsOf(caller)];
    return hash('sha256', JSON.stringify(asked), 'base64url');
  }

  function join(name: string): Question {
    const question = questions.get(name) ?? { followers: 0, prompt: null, inStep: new Map(), answers: new Map() };
    questions.set(name, question);
    question.followers += 1;
    return question;
  }

  async function follow(args: ExecutionArgs, scope: Scope): Promise<Followed | ExecutionResult> {
    const valid = validateSubscriptionArgs(args);
    if (!('schema' in valid)) return { errors: valid };
    const source = await createSourceEventStream(valid);
    if (!isAsyncIterable(source)) return source;
    const name = nameOf(args, scope.caller);
    const question = join(name);
    const ask = (event: unknown): Answer =>
      answerTo(question, event, () => {
        // Each event is a question of its own: what an earlier one loaded may have changed since.
        forget(scope.loaders);
        const work = new Work(turns);
        const contextValue = { ...(valid.contextValue as GraphContext), work };
        const answer = executeSubscriptionEvent({ ...valid, rootValue: event, contextValue });
        const bounded = (result: ExecutionResult): Answer => answers.bounded(settled(result, work));
        return answer instanceof Promise ? answer.then(bounded) : bounded(answer);
      });
    const inStep = inStepOf(question, scope.caller);
    inStep.followers += 1;
    return {
      results: new Follower(toPollable(source), ask, inStep),
      left() {
        question.followers -= 1;
        inStep.followers -= 1;
        if (scope.caller !== null && inStep.followers === 0) question.inStep.delete(scope.caller.keyHash);
        if (question.followers === 0) questions.delete(name);
      },
    };
  }

  return { follow };
}

/** Everything of a caller that its results depend on. */
function rightsOf(caller: Caller | null): unknown {
  return caller === null ? null : [caller.role, visibilityOf(caller)];
}

/** Subscribers with one credential; one without a credential is alone. */
function inStepOf(question: Question, caller: Caller | null): InStep {
  const known = caller === null ? undefined : question.inStep.get(caller.keyHash);
  if (known !== undefined) return known;
  const inStep = new InStep(question);
  if (caller !== null) question.inStep.set(caller.keyHash, inStep);
  return inStep;
}

function answerTo(question: Question, event: unknown, ask: () => Answer): Answer {
  const { followers, answers } = question;
  const shared = followers > 1 && typeof event === 'object' && event !== null;
  const known = shared ? answers.get(event) : undefined;
  if (known instanceof Promise) return known.then((answer) => (answer.errors === undefined ? answer : ask()), ask);
  if (known !== undefined) return known;
  const answer = ask();
  const prompt = !(answer instanceof Promise);
  question.prompt = prompt && question.prompt !== false;
  if (shared && (!prompt || answer.errors === undefined)) keep(answers, event, answer);
  return answer;
}

function keep(answers: Map<object, Answer>, event: object, answer: Answer): void {
  answers.set(event, answer);
  const [oldest] = answers.keys();
  if (answers.size > KEPT_ANSWERS && oldest !== undefined) answers.delete(oldest);
}

function forget(loaders: Loaders): void {
  for (const question of Object.keys(loaders) as (keyof Loaders)[]) loaders[question].clearAll();
}
