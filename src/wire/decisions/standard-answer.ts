import type { Usage } from '../../domain/chat/chat.ts';
import {
  type Answer,
  type Decision,
  type Members,
  optionText,
  type Question,
} from '../../domain/decisions/decision.ts';
import { type Fields, object } from '../json/fields.ts';
import {
  boxConfidence,
  evidenceMembers,
  optionalCount,
  requiredBox,
  requiredCount,
  requiredNumber,
  requiredObject,
  requiredText,
} from './answer-fields.ts';
import { InvalidAnswer } from './faults.ts';
import { contentText } from './texts.ts';

/**
 * Reads an answer in the standard format. Answers belong to the questions by position. A missing answer, or one of
 * another kind, is a refusal. Throws InvalidAnswer.
 */
export function readStandardAnswer(value: unknown, questions: readonly Question[]): Decision {
  const body = requiredObject(value, 'the answer');
  const model = requiredText(body['model'], 'model');
  const { answers } = body;
  if (!Array.isArray(answers)) throw new InvalidAnswer('answers is not an array');
  const receivedAnswers = answers.map((one: unknown, index) => readAnswer(one, `answers.${index}`));
  return {
    model,
    answers: questions.map(({ kind }, index) => {
      const answer = receivedAnswers[index];
      return answer?.kind === kind ? answer : { kind: 'refusal' };
    }),
    usage: readUsage(requiredObject(body['usage'], 'usage')),
    more: {},
    usageMore: {},
  };
}

function readUsage(usage: Fields): Usage {
  const input = object(usage['input_tokens_details']);
  const output = object(usage['output_tokens_details']);
  return {
    inputTokens: requiredCount(usage['input_tokens'], 'usage.input_tokens'),
    outputTokens: requiredCount(usage['output_tokens'], 'usage.output_tokens'),
    cacheReadTokens: optionalCount(input['cached_tokens'], 'usage.input_tokens_details.cached_tokens'),
    cacheWriteTokens: optionalCount(input['cache_write_tokens'], 'usage.input_tokens_details.cache_write_tokens'),
    reasoningTokens: optionalCount(output['reasoning_tokens'], 'usage.output_tokens_details.reasoning_tokens'),
  };
}

function readAnswer(value: unknown, where: string): Answer {
  const answer = requiredObject(value, where);
  if (answer['name'] === undefined) throw new InvalidAnswer(`${where}.name is missing`);
  switch (answer['type']) {
    case 'predicate':
      return {
        kind: 'predicate',
        probability: requiredNumber(answer['probability'], `${where}.probability`),
        more: {},
      };
    case 'choice':
      return readChoice(answer, where);
    case 'score':
      return readScore(answer, where);
    case 'box':
      return {
        kind: 'box',
        box: requiredBox(answer['box'], `${where}.box`),
        confidence: boxConfidence(answer, where),
        more: {},
      };
    case 'refusal':
      return { kind: 'refusal' };
    default:
      throw new InvalidAnswer(`${where}.type is not known`);
  }
}

function readChoice(answer: Fields, where: string): Answer {
  return {
    kind: 'choice',
    choice: valueText(answer['choice'], `${where}.choice`),
    confidence: requiredNumber(answer['confidence'], `${where}.confidence`),
    probabilities: new Map(
      entriesOf(answer, where).map((one) => [
        valueText(one['value'], `${where}.probabilities`),
        requiredNumber(one['probability'], `${where}.probabilities`),
      ]),
    ),
    more: {},
  };
}

function readScore(answer: Fields, where: string): Answer {
  return {
    kind: 'score',
    score: requiredNumber(answer['score'], `${where}.score`),
    confidence: requiredNumber(answer['confidence'], `${where}.confidence`),
    probabilities: new Map(
      entriesOf(answer, where).map((one) => [
        String(requiredCount(one['value'], `${where}.probabilities`)),
        requiredNumber(one['probability'], `${where}.probabilities`),
      ]),
    ),
    legend: null,
    more: {},
  };
}

function entriesOf(answer: Fields, where: string): readonly Fields[] {
  const { probabilities } = answer;
  if (!Array.isArray(probabilities)) throw new InvalidAnswer(`${where}.probabilities is not an array`);
  return probabilities.map((one: unknown) => requiredObject(one, `${where}.probabilities`));
}

/** Value of an option as text: a string or a boolean. Throws InvalidAnswer. */
function valueText(value: unknown, where: string): string {
  if (typeof value === 'boolean') return String(value);
  return requiredText(value, where);
}

/** Writes a decision as an answer of the standard format. `model` applies when the upstream reports none. */
export function writeStandardAnswer(decision: Decision, questions: readonly Question[], model: string): Members {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = decision.usage;
  return {
    model: decision.model ?? model,
    answers: questions.map((question, index) => writeAnswer(question, decision.answers[index])),
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function writeAnswer(question: Question, answer: Answer | undefined): Members {
  const { name } = question;
  if (answer === undefined || answer.kind === 'refusal') return { type: 'refusal', name };
  const evidence = evidenceMembers(answer);
  switch (answer.kind) {
    case 'predicate':
      return { type: 'predicate', name, probability: answer.probability, ...evidence };
    case 'box':
      return { type: 'box', name, box: answer.box, confidence: answer.confidence, ...evidence };
    case 'choice': {
      const options = question.kind === 'choice' ? question.options : [];
      return {
        type: 'choice',
        name,
        choice: options.find((option) => optionText(option) === answer.choice)?.value ?? answer.choice,
        probabilities: options.map((option) => ({
          value: option.value,
          probability: answer.probabilities.get(optionText(option)) ?? 0,
        })),
        confidence: answer.confidence,
        ...evidence,
      };
    }
    case 'score': {
      const levels = question.kind === 'score' ? question.levels : [];
      return {
        type: 'score',
        name,
        score: answer.score,
        probabilities: levels.map(({ label }, index) => ({
          value: index,
          label: contentText(label),
          probability: answer.probabilities.get(String(index)) ?? 0,
        })),
        confidence: answer.confidence,
        ...evidence,
      };
    }
  }
}
