import type { ProbabilityEvidence } from '../../../domain/decisions/decision.ts';
import { normalised } from '../../../domain/decisions/distribution.ts';
import { list, number, object, text } from '../../json/fields.ts';

/** Requested alternatives of a token: the maximum of OpenAI's API. */
export const TOP_LOGPROBS = 20;
/** Minimum sum of the label probabilities. A lower sum means that the model answers with other text. */
const MIN_LABEL_MASS = 0.5;
/** Up to this probability, relative to the listed labels, unlisted labels count as 0. */
const MISSING_TOLERANCE = 0.01;
/** Rounding by the upstream may raise the sum of the listed probabilities above 1 by this much. */
const ROUNDING_TOLERANCE = 1e-6;

/** Reading of the labels of one answer. */
export type LabelReading =
  | { readonly kind: 'read'; readonly probabilities: readonly number[]; readonly evidence: ProbabilityEvidence }
  /** The answer has log probabilities, but they do not determine the probabilities of the labels. */
  | { readonly kind: 'unclear' }
  /** The answer has no log probabilities. */
  | { readonly kind: 'absent' };

interface Alternative {
  readonly token: string;
  readonly probability: number;
}

/** A token without the space markers of tokenisers. */
const trimmedToken = (token: string): string => token.replaceAll(/[\u0120\u2581]/g, ' ').trim();

function alternativesOf(answer: unknown): readonly Alternative[] | null {
  const [choice] = list(object(answer)['choices']);
  const [firstToken] = list(object(object(choice)['logprobs'])['content']);
  const listed = list(object(firstToken)['top_logprobs']).flatMap((entry): readonly Alternative[] => {
    const token = text(object(entry)['token']);
    const logprob = number(object(entry)['logprob']);
    return token === null || logprob === null ? [] : [{ token: trimmedToken(token), probability: Math.exp(logprob) }];
  });
  return listed.length === 0 ? null : listed;
}

/**
 * Reads the probabilities of labels from the first token of a chat completion. A token that differs from a label only
 * by surrounding spaces counts for the label; with `ignoreCase` also one that differs by case. When the unlisted labels
 * can have more probability than `MISSING_TOLERANCE`, the reading is `unclear`.
 */
export function readLabels(answer: unknown, labels: readonly string[], ignoreCase: boolean): LabelReading {
  const alternatives = alternativesOf(answer);
  if (alternatives === null) return { kind: 'absent' };
  const folded = (value: string): string => (ignoreCase ? value.toLowerCase() : value);
  const labelMasses = labels.map((label) =>
    alternatives.reduce(
      (sum, { token, probability }) => (folded(token) === folded(label) ? sum + probability : sum),
      0,
    ),
  );
  const listedSum = alternatives.reduce((sum, { probability }) => sum + probability, 0);
  const labelMass = labelMasses.reduce((sum, value) => sum + value, 0);
  if (listedSum > 1 + ROUNDING_TOLERANCE || labelMass < MIN_LABEL_MASS) return { kind: 'unclear' };
  const missing = labelMasses.filter((value) => value === 0).length;
  const smallest = Math.min(...alternatives.map(({ probability }) => probability));
  // A label that is not listed is at most as probable as the least probable listed token.
  const maxUnlisted = missing === 0 ? 0 : Math.min(missing * smallest, Math.max(0, 1 - listedSum));
  if (maxUnlisted / labelMass > MISSING_TOLERANCE) return { kind: 'unclear' };
  const probabilities = normalised(labelMasses);
  if (probabilities === null) return { kind: 'unclear' };
  const missingBound = missing === 0 ? null : maxUnlisted / (labelMass + maxUnlisted);
  return {
    kind: 'read',
    probabilities,
    evidence: { source: 'logprobs', labelMass: Math.min(1, labelMass), missingBound },
  };
}
