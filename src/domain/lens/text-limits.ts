import { InvalidInput } from '../errors.ts';

/** A text of an input, and its limits in characters. */
interface LimitedText {
  /** Name of the member of the input. */
  readonly name: string;
  readonly text: string;
  /** Minimum length; 0 when absent. */
  readonly min?: number;
  readonly max: number;
}

/**
 * Maximum length of the name of a dataset and of its agent, in characters, and maximum number of sources of one build.
 */
export const DATASET_LIMITS = { name: 120, agentName: 200, sources: 500 } as const;
/** Maximum length of the name and of the team id of a tracing key, in characters. */
export const TRACING_KEY_LIMITS = { name: 128, teamId: 256 } as const;
/** Maximum length of the name of a worker, in characters. */
export const MAX_WORKER_NAME = 200;

/** Throws InvalidInput with every text outside its limits. */
export function assertTextLengths(texts: readonly LimitedText[]): void {
  const issues = texts.flatMap(({ name, text, min = 0, max }) => {
    if (text.length >= min && text.length <= max) return [];
    const message = `must have ${min} to ${max} characters`;
    return [{ path: ['body', name], rule: 'range', message: `\`${name}\` ${message}` }];
  });
  if (issues.length > 0) throw new InvalidInput(`${issues.map(({ message }) => message).join('; ')}.`, issues);
}
