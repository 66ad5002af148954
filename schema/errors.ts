import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import {
  Conflict,
  DomainError,
  Forbidden,
  InvalidInput,
  type Issue,
  LimitExceeded,
  NotFound,
  Rejected,
  Unavailable,
  Unsupported,
  UpstreamFailed,
} from '../src/domain/errors.ts';
import { FreeTierUsedUp } from '../src/domain/free-tier/free-tier.ts';
import { builder } from './builder.ts';

const ErrorCodeType = builder.enumType('ErrorCode', {
  description: 'Every meaning a deliberate failure can have; also found as `extensions.code` of top-level errors.',
  values: {
    INVALID_INPUT: { description: 'What was sent breaks a rule.' },
    UNSUPPORTED: { description: 'Understood, but this installation cannot do it.' },
    UNAUTHENTICATED: { description: 'No key, or one that does not hold.' },
    FORBIDDEN: { description: 'The key may not do this.' },
    NOT_FOUND: { description: 'It does not exist, or the caller may not know that it does.' },
    CONFLICT: { description: 'Something that already exists stands in the way.' },
    TOO_LARGE: { description: 'More bytes, items or depth than is accepted.' },
    LIMIT_EXCEEDED: { description: 'A budget or rate is used up.' },
    REJECTED: { description: 'A guardrail refused it.' },
    UPSTREAM_FAILED: { description: 'The upstream answered with a failure, or did not answer.' },
    UNAVAILABLE: { description: 'Not now: a queue is full, a store is away, or the process is stopping.' },
  } as const,
});

/** What every promised error shows. */
const UserErrorType = builder.interfaceRef<DomainError>('UserError').implement({
  description: 'A failure the caller can act on.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeType, description: 'What kind of failure.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'What went wrong, for people.' }),
  }),
});

const IssueType = builder.objectRef<Issue>('Issue').implement({
  description: 'One fault in what was sent.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Where it is, from the outside in.',
      resolve: ({ path }) => path.map(String),
    }),
    rule: t.exposeString('rule', { description: 'Stable name of the broken rule.' }),
    message: t.exposeString('message', { description: 'What is wrong, for people.' }),
  }),
});

builder.objectType(InvalidInput, {
  name: 'InvalidInputError',
  description: 'What was sent breaks a rule; all faults at once.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    issues: t.field({
      type: [IssueType],
      description: 'The faults; empty when the message says it all.',
      resolve: ({ issues }) => issues,
    }),
  }),
});

builder.objectType(NotFound, {
  name: 'NotFoundError',
  description: 'What was named does not exist, or the caller may not know that it does.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'What kind of thing, e.g. `model`.' }),
    id: t.exposeString('id', { description: 'The name it was asked for by.' }),
  }),
});

builder.objectType(Unsupported, {
  name: 'UnsupportedError',
  description: 'Understood, but this installation cannot do it.',
  interfaces: [UserErrorType],
});

builder.objectType(Conflict, {
  name: 'ConflictError',
  description: 'Something that already exists stands in the way.',
  interfaces: [UserErrorType],
});

builder.objectType(LimitExceeded, {
  name: 'LimitExceededError',
  description: 'A budget or rate is used up.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    limit: t.exposeString('limit', {
      description: 'Which: `budget`, `requests`, `tokens`, `concurrent_requests` or `free_tier`.',
    }),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      nullable: true,
      description: 'When trying again makes sense; null when waiting does not help.',
    }),
  }),
});

builder.objectType(Rejected, {
  name: 'RejectedError',
  description: 'A guardrail refused the request.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    guardrail: t.exposeString('guardrail', { description: 'Which guardrail.' }),
  }),
});

builder.objectType(UpstreamFailed, {
  name: 'UpstreamFailedError',
  description: 'The upstream answered with a failure, or did not answer.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Who failed.' }),
    upstreamCode: t.exposeString('upstreamCode', {
      nullable: true,
      description: "The upstream's own code, when it named one.",
    }),
  }),
});

/** What a bug is told as. */
const UNEXPECTED = 'Unexpected error.';

/**
 * A failure as the graph shows it at top level. What the platform means keeps its message and code; a
 * complaint of graphql itself passes; anything else is a bug: hidden, reported once, and told only by the
 * request id that `report` gives it.
 */
export function toGraphQLError(error: unknown, report: (bug: unknown) => string): GraphQLError {
  const root = rootOf(error);
  const place = error instanceof GraphQLError ? placeOf(error) : {};
  if (root instanceof DomainError)
    return new GraphQLError(root.message, { ...place, extensions: { code: root.code, ...detailOf(root) } });
  if (root instanceof GraphQLError)
    return root === error ? root : new GraphQLError(root.message, { ...place, extensions: root.extensions });
  return new GraphQLError(UNEXPECTED, { ...place, extensions: { code: 'INTERNAL', requestId: report(root) } });
}

/** What a failure was before graphql wrapped it with its place. */
export function rootOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}

const placeOf = ({ nodes, source, positions, path }: GraphQLError) => ({ nodes, source, positions, path });

function detailOf(error: DomainError): GraphQLErrorExtensions {
  if (error instanceof InvalidInput && error.issues.length > 0)
    return { issues: error.issues.map(({ path, rule, message }) => ({ path, rule, message })) };
  if (error instanceof Forbidden && error.right !== null) return { right: error.right };
  if (error instanceof NotFound) return { kind: error.kind, id: error.id };
  if (error instanceof Unavailable) return { retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof FreeTierUsedUp)
    return { limit: error.limit, dailyLimit: error.dailyLimit, retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof LimitExceeded) return { limit: error.limit, retryAfterSeconds: error.retryAfterSeconds };
  return {};
}
