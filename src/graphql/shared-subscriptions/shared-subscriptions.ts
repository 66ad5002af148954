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
import type { Loaders } from '../../../resolvers/operation/loaders.ts';
import { clearOwners } from '../../../resolvers/operation/owner-loaders.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { GraphContext } from '../../../schema/base/builder.ts';
import { Work } from '../../../schema/base/work.ts';
import { type Caller, visibilityOf } from '../../domain/caller.ts';
import type { Turns } from '../../domain/event-loop-turns.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { toPollable, type PollableStream } from '../../domain/pollable-stream.ts';
import { type Answers, resultWithinLimits } from '../answers.ts';
import { type EventResult, Subscriber, SubscriberGroup } from './subscriber.ts';

/** Maximum number of cached results per operation. A subscriber that is further behind executes its events itself. */
const MAX_CACHED_RESULTS = 16;

/** One operation that several subscribers run with equal rights. */
interface SharedOperation {
  subscribers: number;
  /** Whether every result so far was synchronous; null before the first. */
  synchronous: boolean | null;
  /** Groups by key hash: the credential is checked before every event, so each key has its own stream. */
  readonly groups: Map<string, SubscriberGroup>;
  /** Results by event, the oldest first. */
  readonly results: Map<object, EventResult>;
}

/** A running subscription: one result per event, until `leave`. */
interface RunningSubscription {
  readonly results: PollableStream<ExecutionResult>;
  /** Call once, when the results are no longer read. */
  leave(): void;
}

export interface SharedSubscriptions {
  /** Starts a subscription. Returns a single result, with the errors, when it cannot start. */
  subscribe(args: ExecutionArgs, scope: Scope): Promise<RunningSubscription | ExecutionResult>;
}

/**
 * Executes each event once for all subscribers with the same document, operation, variables and rights. The event must
 * be the same object. A result with errors goes to one subscriber only; the others execute the event themselves.
 */
export function createSharedSubscriptions(turns: Turns, answers: Answers, isEnabled = true): SharedSubscriptions {
  const operations = new Map<string, SharedOperation>();
  const documentNumbers = new WeakMap<DocumentNode, number>();
  let documents = 0;
  let unsharedOperations = 0;

  /** Number of a document object. The parser's cache returns the same object for the same text. */
  function numberOf(document: DocumentNode): number {
    const known = documentNumbers.get(document);
    if (known !== undefined) return known;
    documents += 1;
    documentNumbers.set(document, documents);
    return documents;
  }

  /** Key of an operation in `operations`: equal for equal documents, operations, variables and rights. */
  function operationKeyOf({ document, operationName, variableValues }: ExecutionArgs, caller: Caller | null): string {
    // An empty object and no variables are equal.
    const variables = Object.keys(variableValues ?? {}).length === 0 ? null : variableValues;
    const operation = getOperationAST(document, operationName)?.name?.value ?? null;
    const identity = [numberOf(document), operation, variables, rightsOf(caller)];
    return hash('sha256', JSON.stringify(identity), 'base64url');
  }

  /** A key that no other subscriber has. */
  function unsharedKey(): string {
    unsharedOperations += 1;
    return String(unsharedOperations);
  }

  function join(operationKey: string): SharedOperation {
    const operation: SharedOperation = operations.get(operationKey) ?? {
      subscribers: 0,
      synchronous: null,
      groups: new Map(),
      results: new Map(),
    };
    operations.set(operationKey, operation);
    operation.subscribers += 1;
    return operation;
  }

  return {
    async subscribe(args, scope) {
      const valid = validateSubscriptionArgs(args);
      if (!('schema' in valid)) return { errors: valid };
      const source = await createSourceEventStream(valid);
      if (!isAsyncIterable(source)) return source;
      const operationKey = isEnabled ? operationKeyOf(args, scope.caller) : unsharedKey();
      const operation = join(operationKey);
      const execute = (event: unknown): EventResult =>
        resultOf(operation, event, () => {
          // Values that an earlier event loaded may have changed.
          clearLoaders(scope.loaders);
          const work = new Work(turns);
          const contextValue = { ...(valid.contextValue as GraphContext), work };
          const result = executeSubscriptionEvent({ ...valid, rootValue: event, contextValue });
          const bounded = (value: ExecutionResult): EventResult => answers.bounded(resultWithinLimits(value, work));
          return result instanceof Promise ? result.then(bounded) : bounded(result);
        });
      const group = groupOf(operation, scope.caller);
      group.subscribers += 1;
      return {
        results: new Subscriber(toPollable(source), execute, group),
        leave() {
          operation.subscribers -= 1;
          group.subscribers -= 1;
          if (scope.caller !== null && group.subscribers === 0) operation.groups.delete(scope.caller.keyHash);
          if (operation.subscribers === 0) operations.delete(operationKey);
        },
      };
    },
  };
}

/** Properties of a caller that results depend on. Its key and its user decide which owners it sees. */
function rightsOf(caller: Caller | null): unknown {
  if (caller === null) return null;
  const visibility = visibilityOf(caller);
  return visibility.kind === 'all' ? [caller.role] : [caller.role, visibility, caller.keyHash];
}

/** The group of a credential. A subscriber without a credential gets its own group. */
function groupOf(operation: SharedOperation, caller: Caller | null): SubscriberGroup {
  const known = caller === null ? undefined : operation.groups.get(caller.keyHash);
  if (known !== undefined) return known;
  const group = new SubscriberGroup(operation);
  if (caller !== null) operation.groups.set(caller.keyHash, group);
  return group;
}

function resultOf(operation: SharedOperation, event: unknown, execute: () => EventResult): EventResult {
  const { subscribers, results } = operation;
  const shared = subscribers > 1 && typeof event === 'object' && event !== null;
  const known = shared ? results.get(event) : undefined;
  if (known instanceof Promise)
    return known.then((result) => (result.errors === undefined ? result : execute()), execute);
  if (known !== undefined) return known;
  const result = execute();
  const synchronous = !(result instanceof Promise);
  operation.synchronous = synchronous && operation.synchronous !== false;
  if (shared && (!synchronous || result.errors === undefined)) cache(results, event, result);
  return result;
}

function cache(results: Map<object, EventResult>, event: object, result: EventResult): void {
  results.set(event, result);
  evictOldest(results, MAX_CACHED_RESULTS);
}

function clearLoaders(loaders: Loaders): void {
  for (const name of Object.keys(loaders) as (keyof Loaders)[]) if (name !== 'owners') loaders[name].clearAll();
  clearOwners(loaders.owners);
}
