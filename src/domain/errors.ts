/** One fault in a request: its path, the broken rule, and a text that may be shown. */
export interface Issue {
  /** Path from the outermost value, e.g. `['query', 'page']`. */
  readonly path: readonly (string | number)[];
  /** Stable name of the broken rule, e.g. `int_parsing`. */
  readonly rule: string;
  readonly message: string;
  /** The value of the request, when it may be shown. */
  readonly input?: unknown;
  /** Bounds of the rule, e.g. `{ ge: 1 }`. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** Codes of deliberate failures. Each transport decides how it renders them. */
export type ErrorCode =
  | 'INVALID_INPUT'
  | 'UNSUPPORTED'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'TOO_LARGE'
  | 'LIMIT_EXCEEDED'
  | 'REJECTED'
  | 'UPSTREAM_FAILED'
  | 'UNAVAILABLE';

/**
 * A deliberate failure. `message` may be shown to the caller; anything else goes into `cause`, which is only logged.
 * Any other thrown value is a bug and is masked.
 */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode;
}

/**
 * A failure that a caller can cause very often. It has no stack trace: a stack trace is never shown, and costs more
 * time than the rest of the refusal.
 */
abstract class Refusal extends DomainError {
  constructor(message: string, options?: ErrorOptions) {
    const usualLimit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = usualLimit;
  }
}

/** An invalid request, with all its faults. */
export class InvalidInput extends DomainError {
  readonly code = 'INVALID_INPUT';
  readonly issues: readonly Issue[];
  /** The invalid field, for an error without issues; null when the error names none. */
  readonly field: string | null;
  constructor(
    message: string,
    issues: readonly Issue[] = [],
    options: ErrorOptions & { readonly field?: string } = {},
  ) {
    super(message, options);
    this.name = 'InvalidInput';
    this.issues = issues;
    this.field = options.field ?? null;
  }
}

/** A required field of a form is missing. All surfaces answer it as a validation error. */
export class MissingFormField extends InvalidInput {
  constructor(field: string) {
    super(`The form field '${field}' is missing.`, [
      { path: ['body', field], rule: 'missing', message: 'Field required' },
    ]);
    this.name = 'MissingFormField';
  }
}

/** A valid request that this installation does not support. */
export class Unsupported extends DomainError {
  readonly code = 'UNSUPPORTED';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unsupported';
  }
}

/** Why a credential was refused. Errors in the format of the reference service derive `error.type` from it. */
export type CredentialFault = 'missing' | 'malformed' | 'unknown' | 'expired' | 'blocked';

/** No credential, or an invalid one. */
export class Unauthenticated extends Refusal {
  readonly code = 'UNAUTHENTICATED';
  readonly fault: CredentialFault;
  /** Display name of the key: the end of its hash. Null when unknown. */
  readonly keyName: string | null;
  constructor(message: string, fault: CredentialFault, options: ErrorOptions & { readonly keyName?: string } = {}) {
    super(message, options);
    this.name = 'Unauthenticated';
    this.fault = fault;
    this.keyName = options.keyName ?? null;
  }
}

/** An authenticated caller lacks a right. */
export class Forbidden extends Refusal {
  readonly code = 'FORBIDDEN';
  /** Name of the missing right; null when it must not be shown. */
  readonly right: string | null;
  /** Whether the message is the one of the reference service, which does not name the operation. */
  readonly hasWordsOfReference: boolean;
  /** Description of the callers that may run the operation. Null when no access rule refused the caller. */
  allowedCallers: string | null = null;
  constructor(
    message: string,
    right: string | null = null,
    options: ErrorOptions & { readonly hasWordsOfReference?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'Forbidden';
    this.right = right;
    this.hasWordsOfReference = options.hasWordsOfReference ?? false;
  }
}

/** The object does not exist, or the caller may not know that it exists. */
export class NotFound extends DomainError {
  readonly code = 'NOT_FOUND';
  readonly kind: string;
  readonly id: string;
  constructor(kind: string, id: string, message = `${kind} ${id} not found`, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotFound';
    this.kind = kind;
    this.id = id;
  }
}

/** No deployment has the requested model name. */
export class UnknownModel extends NotFound {
  /**
   * Where the name was sent: as a fallback, or in a request for an image, transcript, speech or reranking; `model` for
   * all others.
   */
  readonly as: 'model' | 'image' | 'transcript' | 'speech' | 'rerank' | 'fallback';
  constructor(model: string, message: string, as: UnknownModel['as'] = 'model') {
    super('model', model, message);
    this.name = 'UnknownModel';
    this.as = as;
  }
}

/** Conflicts with something that exists. */
export class Conflict extends DomainError {
  readonly code = 'CONFLICT';
  /** The field whose value another object has; null when the error names none. */
  readonly field: string | null;
  constructor(message: string, options: ErrorOptions & { readonly field?: string } = {}) {
    super(message, options);
    this.name = 'Conflict';
    this.field = options.field ?? null;
  }
}

/** More bytes, items or depth than is accepted. */
export class TooLarge extends DomainError {
  readonly code = 'TOO_LARGE';
  /** The exceeded limit, in the unit that the message names. */
  readonly limit: number;
  constructor(message: string, limit: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TooLarge';
    this.limit = limit;
  }
}

/**
 * A budget, a rate limit, a limit of parallel calls or the free tier is used up, or all deployments are in cooldown.
 */
export class LimitExceeded extends Refusal {
  readonly code = 'LIMIT_EXCEEDED';
  readonly limit: 'budget' | 'requests' | 'tokens' | 'concurrent_requests' | 'free_tier';
  /** Seconds until a retry makes sense; null when waiting does not help. */
  readonly retryAfterSeconds: number | null;
  constructor(
    message: string,
    limit: LimitExceeded['limit'],
    retryAfterSeconds: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'LimitExceeded';
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A limit of requests or tokens per minute, or of parallel calls, is reached. */
export class RateLimited extends LimitExceeded {
  /** Name of the limit on the wire. */
  readonly type: 'requests' | 'tokens' | 'max_parallel_requests';
  /** End of the window, as UTC text. */
  readonly resetAt: string;
  constructor(
    message: string,
    type: RateLimited['type'],
    about: { readonly retryAfterSeconds: number; readonly resetAt: string },
  ) {
    super(message, type === 'max_parallel_requests' ? 'concurrent_requests' : type, about.retryAfterSeconds);
    this.name = 'RateLimited';
    this.type = type;
    this.resetAt = about.resetAt;
  }
}

/** All deployments of a model are in cooldown after failures. */
export class AllCoolingDown extends LimitExceeded {
  constructor(message: string, retryAfterSeconds: number) {
    super(message, 'requests', retryAfterSeconds);
    this.name = 'AllCoolingDown';
  }
}

/** How a transport reports an exceeded budget: as an unprocessable request, a rate limit, or a bad request. */
export type BudgetErrorKind = 'unprocessable' | 'rate' | 'bad_request';

/** A budget is used up. Unlike with a rate limit, a retry does not help. */
export class BudgetExceeded extends LimitExceeded {
  readonly errorKind: BudgetErrorKind;
  constructor(message: string, errorKind: BudgetErrorKind) {
    super(message, 'budget');
    this.name = 'BudgetExceeded';
    this.errorKind = errorKind;
  }
}

/** No deployment of a model can be selected, because budgets of providers or deployments are used up. */
export class RouteBudgetExceeded extends LimitExceeded {
  readonly budgets: readonly UsedUpBudget[];
  constructor(budgets: readonly UsedUpBudget[]) {
    const subject = budgets.every(({ scope }) => scope === 'provider') ? ' for provider' : '';
    const texts = [...new Set(budgets.map(({ text }) => text))];
    super(`No deployments available - crossed budget${subject}: ${texts.join('; ')}`, 'budget');
    this.name = 'RouteBudgetExceeded';
    this.budgets = budgets;
  }
}

/** A used-up budget of a provider or a deployment. */
interface UsedUpBudget {
  readonly scope: 'provider' | 'deployment';
  /** Name and spend of the budget, its window, and the end of the window. */
  readonly text: string;
}

/** A guardrail refused the request or its answer. */
export class Rejected extends Refusal {
  readonly code = 'REJECTED';
  readonly guardrail: string;
  /** Details of the guardrail, with the message as `error`; null where it gives the message only. */
  readonly detail: Readonly<Record<string, unknown>> | null;
  constructor(
    message: string,
    guardrail: string,
    detail: Readonly<Record<string, unknown>> | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'Rejected';
    this.guardrail = guardrail;
    this.detail = detail;
  }
}

/** The upstream answered with an error, or did not answer. */
export class UpstreamFailed extends DomainError {
  readonly code = 'UPSTREAM_FAILED';
  readonly provider: string;
  /** HTTP status of the upstream; null without an answer (refused, reset, timed out). */
  readonly upstreamStatus: number | null;
  /** The upstream's own error type and code; null when its body has none. */
  readonly upstreamType: string | null;
  readonly upstreamCode: string | null;
  readonly upstreamParam: string | null;
  /** Whether the failure is a timeout. */
  readonly timedOut: boolean;
  /** Seconds after which the upstream accepts another call. Null when its answer does not say. */
  readonly retryAfterSeconds: number | null;
  /** Headers of the upstream's answer, without secrets. Empty when there was no answer. */
  readonly upstreamHeaders: Readonly<Record<string, string>>;
  constructor(
    message: string,
    about: {
      readonly provider: string;
      readonly upstreamStatus: number | null;
      readonly upstreamType?: string | null;
      readonly upstreamCode?: string | null;
      readonly upstreamParam?: string | null;
      readonly timedOut?: boolean;
      readonly retryAfterSeconds?: number | null;
      readonly upstreamHeaders?: Readonly<Record<string, string>>;
    },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'UpstreamFailed';
    this.provider = about.provider;
    this.upstreamStatus = about.upstreamStatus;
    this.upstreamType = about.upstreamType ?? null;
    this.upstreamCode = about.upstreamCode ?? null;
    this.upstreamParam = about.upstreamParam ?? null;
    this.timedOut = about.timedOut ?? false;
    this.retryAfterSeconds = about.retryAfterSeconds ?? null;
    this.upstreamHeaders = about.upstreamHeaders ?? {};
  }
}

/** The service of a guardrail did not answer, or gave an unusable answer. */
export class GuardrailFailed extends UpstreamFailed {
  readonly guardrail: string;
  constructor(message: string, guardrail: string, options?: ErrorOptions) {
    // Answers have the status of the upstream. ADR 0063 sets 502 for a guardrail service that does not answer.
    super(message, { provider: 'guardrail', upstreamStatus: 502 }, options);
    this.name = 'GuardrailFailed';
    this.guardrail = guardrail;
  }
}

/** A queue is full, a store cannot be reached, the process is draining, or a setting is missing. */
export class Unavailable extends DomainError {
  readonly code = 'UNAVAILABLE';
  /** Null when waiting does not help, for example because a setting is missing. */
  readonly retryAfterSeconds: number | null;
  constructor(message: string, retryAfterSeconds: number | null = 2, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unavailable';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A guardrail that a call must pass does not exist, or cannot run with its settings. */
export class GuardrailMissing extends Unavailable {
  constructor(message: string) {
    super(message, null);
    this.name = 'GuardrailMissing';
  }
}
