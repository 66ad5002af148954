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
export const notAllowedByTags = (model: string, tags: readonly string[]): InvalidInput =>
  new InvalidInput(
    `Not allowed to access model due to tags configuration. Passed model=${model} and tags=[${tags
      .map((tag) => `'${tag}'`)
      .join(', ')}]`,
  );

/** Error for a model whose deployments have all used up their requests or tokens per minute. */
export const allOverLimits = (model: string, retryAfterSeconds: number): LimitExceeded =>
  new LimitExceeded(
    `No deployments available for selected model, Try again in ${retryAfterSeconds} seconds. All deployments have reached their limits of requests or tokens per minute. Passed model=${model}.`,
    'requests',
    retryAfterSeconds,
  );
