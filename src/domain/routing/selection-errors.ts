import { InvalidInput, LimitExceeded } from '../errors.ts';

/** Error for a prompt that is longer than the context window of each deployment of the model. */
export class PromptTooLong extends InvalidInput {
  constructor() {
    super('Context window exceeded for given call. No models have context window large enough for this call.');
    this.name = 'PromptTooLong';
  }
}

/** Error for a model whose deployments are all reserved for other teams. `until` is the end of a window, as text. */
export const reservedForOthers = (model: string, until: string): InvalidInput =>
  new InvalidInput(`Deployment ${model} is reserved for another team until ${until}`);

/** Error for a request whose tags allow no deployment of its model. */
export class ExcludedByTags extends InvalidInput {
  constructor(model: string, tags: readonly string[]) {
    const list = tags.map((tag) => `'${tag}'`).join(', ');
    super(`Not allowed to access model due to tags configuration. Passed model=${model} and tags=[${list}]`);
    this.name = 'ExcludedByTags';
  }
}

/** Error for a model whose deployments have all reached the limits that `enforce_model_rate_limits` enforces. */
export class DeploymentLimitReached extends LimitExceeded {
  /** Limits and counts are of one of the deployments, for this minute; `seconds` is the rest of the minute. */
  constructor(
    { rpm, tpm = 0 }: { readonly rpm?: number; readonly tpm?: number },
    { requests, tokens }: { readonly requests: number; readonly tokens: number },
    seconds: number,
  ) {
    const isOfRequests = rpm !== undefined && requests + 1 > rpm;
    const [name, limit, used] = isOfRequests ? ['RPM', rpm, requests] : ['TPM', tpm, tokens];
    const message = `Model rate limit exceeded. ${name} limit=${limit}, current usage=${used}`;
    super(message, isOfRequests ? 'requests' : 'tokens', seconds);
    this.name = 'DeploymentLimitReached';
  }
}

/** `retry-after` in seconds when each deployment has its maximum number of open calls. */
const PARALLEL_RETRY_SECONDS = 1;

/** Error for a model whose deployments all have their maximum number of open calls. */
export const allAtParallelLimit = (model: string): LimitExceeded =>
  new LimitExceeded(
    `No deployments available for selected model, Try again in ${PARALLEL_RETRY_SECONDS} seconds. All deployments have reached their limits of parallel calls. Passed model=${model}.`,
    'concurrent_requests',
    PARALLEL_RETRY_SECONDS,
  );

/** Error for a model whose deployments have all used up their requests or tokens per minute. */
export const allOverLimits = (model: string, retryAfterSeconds: number): LimitExceeded =>
  new LimitExceeded(
    `No deployments available for selected model, Try again in ${retryAfterSeconds} seconds. All deployments have reached their limits of requests or tokens per minute. Passed model=${model}.`,
    'requests',
    retryAfterSeconds,
  );
