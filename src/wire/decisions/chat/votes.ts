import type { Answer } from '../../../domain/decisions/decision.ts';
import { answerOf, type LabelledQuestion, normalised } from '../../../domain/decisions/distribution.ts';
import { list, object } from '../../json/fields.ts';

/** Minimum share of votes that name a label. */
const MIN_LABEL_SHARE = 0.5;
/** Votes added to every label, so that a label without votes has a probability above 0. */
const PRIOR_VOTES = 0.5;

/** Index of the label that a chat completion names, ignoring punctuation and spaces around it. Null for other text. */
export function votedLabel(answer: unknown, labels: readonly string[], ignoreCase: boolean): number | null {
  const [choice] = list(object(answer)['choices']);
  const content = object(object(choice)['message'])['content'];
  if (typeof content !== 'string') return null;
  const folded = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const word = folded(content.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
  const index = labels.findIndex((label) => folded(label) === word);
  return index === -1 ? null : index;
}

/**
 * Answer computed from votes. A vote is the index of a label, or null for other text. The answer is null when too few
 * votes name a label.
 */
export function votedAnswer(
  question: LabelledQuestion,
  labels: readonly string[],
  votes: readonly (number | null)[],
): Answer | null {
  const named = votes.filter((vote) => vote !== null);
  const share = votes.length === 0 ? 0 : named.length / votes.length;
  if (share < MIN_LABEL_SHARE) return null;
  const weights = labels.map((_label, index) => named.filter((vote) => vote === index).length + PRIOR_VOTES);
  const probabilities = normalised(weights);
  if (probabilities === null) return null;
  return answerOf(question, probabilities, { source: 'votes', labelMass: share, missingBound: null });
}
