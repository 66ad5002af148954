import { GraphQLError, type GraphQLErrorExtensions, Kind } from 'graphql';
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
} from '../../src/domain/errors.ts';
import { FreeTierUsedUp } from '../../src/domain/free-tier/free-tier.ts';
import { builder } from './builder.ts';

const ERROR_CODES = {
  INVALID_INPUT: { description: 'The input is invalid.' },
  UNSUPPORTED: { description: 'The request is valid but not supported.' },
  UNAUTHENTICATED: { description: 'The key is missing or invalid.' },
  FORBIDDEN: { description: 'The key lacks the right.' },
  NOT_FOUND: { description: 'The object does not exist, or the caller may not read it.' },
  CONFLICT: { description: 'The request conflicts with the current state.' },
  TOO_LARGE: { description: 'A size, cost or depth limit is exceeded.' },
  LIMIT_EXCEEDED: { description: 'A budget, a rate limit, a limit of concurrent calls or the free tier is used up.' },
  REJECTED: { description: 'A guardrail rejected the request.' },
  UPSTREAM_FAILED: { description: 'The provider answered with an error, or did not answer.' },
  UNAVAILABLE: {
    description:
      'The server cannot serve the request, e.g. because a queue is full, a store is down or a setting is missing.',
  },
  GRAPHQL_PARSE_FAILED: { description: 'The document has a syntax error.' },
  GRAPHQL_VALIDATION_FAILED: {
    description: 'The document does not fit the schema, or a value does not have the type of its variable or argument.',
  },
  INTERNAL: { description: 'An internal error of the server. Search its log for `extensions.requestId`.' },
} as const;

const ErrorCodeType = builder.enumType('ErrorCode', {
  description: 'Error codes. Top-level errors have them as `extensions.code`.',
  values: ERROR_CODES,
});

/** Fields of every error in a result union. */
export const UserErrorType = builder.interfaceRef<DomainError>('UserError').implement({
  description: 'An error that the caller can act on.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeType, description: 'Error code.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'Error message.' }),
  }),
});

const IssueType = builder.objectRef<Issue>('Issue').implement({
  description: 'One validation error of the input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Path of the invalid value.',
      resolve: ({ path }) => path.map(String),
    }),
    rule: t.exposeString('rule', { description: 'Stable name of the violated rule.' }),
    message: t.exposeString('message', { description: 'What is wrong.' }),
  }),
});

builder.objectType(InvalidInput, {
  name: 'InvalidInputError',
  description: 'The input is invalid.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    issues: t.field({
      type: [IssueType],
      description: 'All validation errors, each with its path. Empty when `message` alone describes the error.',
      resolve: ({ issues }) => issues,
    }),
  }),
});

builder.objectType(NotFound, {
  name: 'NotFoundError',
  description: 'The object does not exist, or the caller may not read it.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'Kind of object, e.g. `model`.' }),
    id: t.exposeString('id', { description: 'Id in the request.' }),
  }),
});

builder.objectType(Unsupported, {
  name: 'UnsupportedError',
  description: 'The request is valid but not supported.',
  interfaces: [UserErrorType],
});

builder.objectType(Conflict, {
  name: 'ConflictError',
  description: 'The request conflicts with the current state.',
  interfaces: [UserErrorType],
});

builder.objectType(LimitExceeded, {
  name: 'LimitExceededError',
  description: 'A budget, a rate limit, a limit of concurrent calls or the free tier is used up.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    limit: t.exposeString('limit', {
      description: 'Exceeded limit: `budget`, `requests`, `tokens`, `concurrent_requests` or `free_tier`.',
    }),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      nullable: true,
      description: 'Seconds until a retry can succeed. Null when waiting does not help.',
    }),
  }),
});

builder.objectType(Rejected, {
  name: 'RejectedError',
  description: 'A guardrail rejected the request.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    guardrail: t.exposeString('guardrail', { description: 'Name of the guardrail.' }),
  }),
});

builder.objectType(UpstreamFailed, {
  name: 'UpstreamFailedError',
  description: 'The provider answered with an error, or did not answer.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Provider.' }),
    upstreamCode: t.exposeString('upstreamCode', {
      nullable: true,
      description: 'Error code of the provider. Null when it sent none.',
    }),
  }),
});

builder.objectType(Unavailable, {
  name: 'UnavailableError',
  description:
    'The server cannot serve the request, e.g. because a store is down, or a limit of time, memory or size is exceeded.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      nullable: true,
      description: 'Seconds until a retry can succeed. Null when waiting does not help.',
    }),
  }),
});

/** Error codes of Yoga, the GraphQL server library, that have another name here. */
const CODE_BY_YOGA_CODE: ReadonlyMap<string, keyof typeof ERROR_CODES> = new Map([
  ['BAD_REQUEST', 'INVALID_INPUT'],
  ['OPERATION_RESOLUTION_FAILURE', 'INVALID_INPUT'],
]);

/**
 * Code of an error of graphql. Null for an unknown code, and for a fault of the server, e.g. a result that does not
 * have the type of its field.
 */
function codeOf(root: GraphQLError, path: GraphQLError['path']): keyof typeof ERROR_CODES | null {
  const { code } = root.extensions;
  if (typeof code === 'string' && Object.hasOwn(ERROR_CODES, code)) return code as keyof typeof ERROR_CODES;
  if (typeof code === 'string') return CODE_BY_YOGA_CODE.get(code) ?? null;
  if (root.message.startsWith('Syntax Error')) return 'GRAPHQL_PARSE_FAILED';
  const isServerFault = path !== undefined && (root.nodes ?? []).every(({ kind }) => kind === Kind.FIELD);
  return isServerFault ? null : 'GRAPHQL_VALIDATION_FAILED';
}

const UNEXPECTED = 'Unexpected error.';

/**
 * Top-level error of the graph, with a code of `ErrorCode`. Errors of graphql with a code keep their message. A
 * `DomainError` has the message of `messageOf`. Any other error is a bug: `report` logs it and returns a request id.
 * The client receives that id and no details.
 */
export function toGraphQLError(error: unknown, report: (bug: unknown) => string): GraphQLError {
  const root = rootOf(error);
  const location: Partial<ReturnType<typeof locationOf>> = error instanceof GraphQLError ? locationOf(error) : {};
  if (root instanceof DomainError)
    return new GraphQLError(messageOf(root), { ...location, extensions: { code: root.code, ...detailOf(root) } });
  if (root instanceof GraphQLError) {
    const code = codeOf(root, location.path);
    const isComplete = root === error && root.extensions['code'] === code;
    if (code !== null)
      return isComplete
        ? root
        : new GraphQLError(root.message, { ...location, extensions: { ...root.extensions, code } });
  }
  return new GraphQLError(UNEXPECTED, { ...location, extensions: { code: 'INTERNAL', requestId: report(root) } });
}

/** The original error inside the wrappers of graphql. */
export function rootOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}

const locationOf = ({ nodes, source, positions, path }: GraphQLError) => ({ nodes, source, positions, path });

/**
 * Message for the graph. A refusal with a text of the reference may name HTTP routes. Its message is replaced by one
 * that names the callers that the access rule admits.
 */
const messageOf = (error: DomainError): string =>
  error instanceof Forbidden && error.hasWordsOfReference && error.allowedCallers !== null
    ? `The key lacks the right. Allowed: ${error.allowedCallers}`
    : error.message;

function detailOf(error: DomainError): GraphQLErrorExtensions {
  if (error instanceof InvalidInput && error.issues.length > 0)
    return { issues: error.issues.map(({ path, rule, message }) => ({ path, rule, message })) };
  if (error instanceof Forbidden)
    return {
      ...(error.right === null ? {} : { right: error.right }),
      ...(error.allowedCallers === null ? {} : { allowed: error.allowedCallers }),
    };
  if (error instanceof NotFound) return { kind: error.kind, id: error.id };
  if (error instanceof Unavailable) return { retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof FreeTierUsedUp)
    return { limit: error.limit, dailyLimit: error.dailyLimit, retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof LimitExceeded) return { limit: error.limit, retryAfterSeconds: error.retryAfterSeconds };
  return {};
}
