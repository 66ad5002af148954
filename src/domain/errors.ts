/** One fault in what a caller sent: where it is, which rule it breaks, and a text fit to show. */
export interface Issue {
  /** Path from the outermost value, e.g. `['query', 'page']`. */
  readonly path: readonly (string | number)[];
  /** Stable name of the broken rule, e.g. `int_parsing`. */
  readonly rule: string;
  readonly message: string;
  /** The value as it was sent, when it may be shown. */
  readonly input?: unknown;
  /** Bounds of the rule, e.g. `{ ge: 1 }`. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** Every meaning a deliberate failure can have. A door decides what each looks like on its wire. */
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
 * A failure the platform means. `message` and `detail` may be shown to the caller; everything that may
 * not goes into `cause`, which only the log sees. Anything else that is thrown is a bug and is masked.
 */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode;
}

/**
 * A failure that a caller can cause at any rate. It keeps no stack: nobody is shown it, and to make one costs more
 * than all the rest of a refusal.
 */
abstract class Refusal extends DomainError {
  constructor(message: string, options?: ErrorOptions) {
    const depth = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = depth;
  }
}

/** The caller sent something that breaks a rule; all faults at once. */
export class InvalidInput extends DomainError {
  readonly code = 'INVALID_INPUT';
  readonly issues: readonly Issue[];
  /** The field that a fault without issues is about, when one is named. */
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

/** Understood, but this installation cannot do it. */
export class Unsupported extends DomainError {
  readonly code = 'UNSUPPORTED';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unsupported';
  }
}

/** Why a credential was not accepted; the field's own words, used as `error.type` on the proxy's wire. */
export type CredentialFault = 'missing' | 'malformed' | 'unknown' | 'expired' | 'blocked';

/** No credential, or one that does not hold. */
export class Unauthenticated extends Refusal {
  readonly code = 'UNAUTHENTICATED';
  readonly fault: CredentialFault;
  constructor(message: string, fault: CredentialFault, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unauthenticated';
    this.fault = fault;
  }
}

/** The caller is known and may not do this. `right` names what is missing when that may be told. */
export class Forbidden extends Refusal {
  readonly code = 'FORBIDDEN';
  readonly right: string | null;
  constructor(message: string, right: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Forbidden';
    this.right = right;
  }
}

/** What was asked for does not exist, or the caller may not know that it does. */
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

/** Something that already exists stands in the way. */
export class Conflict extends DomainError {
  readonly code = 'CONFLICT';
  /** The field whose value is taken, when one is named. */
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
  /** The bound that was crossed, in the unit the message names. */
  readonly limit: number;
  constructor(message: string, limit: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TooLarge';
    this.limit = limit;
  }
}

/** A budget or rate is used up. */
export class LimitExceeded extends Refusal {
  readonly code = 'LIMIT_EXCEEDED';
  readonly limit: 'budget' | 'requests' | 'tokens' | 'concurrent_requests' | 'free_tier';
  /** Seconds until trying again makes sense; null when waiting does not help. */
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

/** How a budget that is used up is told: as a call that makes no sense now, as a rate, or as a request that is wrong. */
export type BudgetToldAs = 'unprocessable' | 'rate' | 'bad_request';

/** A budget is used up: unlike with a rate, trying again does not help. */
export class BudgetExceeded extends LimitExceeded {
  readonly toldAs: BudgetToldAs;
  constructor(message: string, toldAs: BudgetToldAs) {
    super(message, 'budget');
    this.name = 'BudgetExceeded';
    this.toldAs = toldAs;
  }
}

/** A guardrail refused the request. */
export class Rejected extends DomainError {
  readonly code = 'REJECTED';
  readonly guardrail: string;
  constructor(message: string, guardrail: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Rejected';
    this.guardrail = guardrail;
  }
}

/** The upstream answered with a failure, or did not answer. */
export class UpstreamFailed extends DomainError {
  readonly code = 'UPSTREAM_FAILED';
  readonly provider: string;
  /** HTTP status the upstream sent; null when it sent none (refused, cut, timed out). */
  readonly upstreamStatus: number | null;
  /** The upstream's own error type and code, when its body named them. */
  readonly upstreamType: string | null;
  readonly upstreamCode: string | null;
  readonly upstreamParam: string | null;
  /** It did not answer in the time it was given. */
  readonly timedOut: boolean;
  /** When it may be asked again, where it says; callers are not told. */
  readonly retryAfterSeconds: number | null;
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
  }
}

/** Not now: a queue is full, a store is away, or the process is draining. */
export class Unavailable extends DomainError {
  readonly code = 'UNAVAILABLE';
  /** Null when waiting does not help: something has to be set up first. */
  readonly retryAfterSeconds: number | null;
  constructor(message: string, retryAfterSeconds: number | null = 2, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unavailable';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
