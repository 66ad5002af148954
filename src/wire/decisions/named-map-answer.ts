import type { Usage } from '../../domain/chat/chat.ts';
import {
  type Answer,
  type Decision,
  type Members,
  type Question,
  questionKeys,
} from '../../domain/decisions/decision.ts';
import type { Fields } from '../json/fields.ts';
import { orderedJson } from '../json/key-order.ts';
import {
  boxConfidence,
  evidenceMembers,
  optionalCount,
  plainUsage,
  requiredBox,
  requiredCount,
  requiredNumber,
  requiredNumbers,
  requiredObject,
  requiredText,
} from './answer-fields.ts';
import { InvalidAnswer } from './faults.ts';
import { contentValue } from './texts.ts';

/**
 * Reads an answer in the named-map format. A question without an answer, or with an answer of another kind, is a
 * refusal. Throws InvalidAnswer.
 */
export function readNamedMapAnswer(value: unknown, questions: readonly Question[]): Decision {
  const { model = null, answers: answersByKey, usage, ...more } = requiredObject(value, 'the answer');
  if (model !== null && typeof model !== 'string') throw new InvalidAnswer('model is not a string');
  const answers = new Map(
    Object.entries(requiredObject(answersByKey, 'answers')).map(([key, one]) => [
      key,
      readAnswer(one, `answers.${key}`),
    ]),
  );
  const keys = questionKeys(questions);
  return {
    model,
    answers: questions.map(({ kind }, index) => {
      const answer = answers.get(keys[index] ?? '');
      return answer?.kind === kind ? answer : { kind: 'refusal' };
    }),
    ...readUsage(usage),
    more,
  };
}

function readUsage(value: unknown): { readonly usage: Usage; readonly usageMore: Members } {
  if (value === undefined || value === null) return { usage: plainUsage(0, 0), usageMore: {} };
  const {
    input_tokens: input,
    output_tokens: output,
    cached_tokens: cached,
    cache_write_tokens: written,
    ...usageMore
  } = requiredObject(value, 'usage');
  const usage = {
    ...plainUsage(requiredCount(input, 'usage.input_tokens'), requiredCount(output, 'usage.output_tokens')),
    cacheReadTokens: optionalCount(cached, 'usage.cached_tokens'),
    cacheWriteTokens: optionalCount(written, 'usage.cache_write_tokens'),
  };
  return { usage, usageMore };
}

function readAnswer(value: unknown, where: string): Answer {
  const { type, ...answer } = requiredObject(value, where);
  switch (type) {
    case 'noul': {
      const { noul, ...more } = answer;
      return { kind: 'predicate', probability: requiredNumber(noul, `${where}.noul`), more };
    }
    case 'choice': {
      const { choice, confidence, probabilities, ...more } = answer;
      return {
        kind: 'choice',
        choice: requiredText(choice, `${where}.choice`),
        confidence: requiredNumber(confidence, `${where}.confidence`),
        probabilities: requiredNumbers(probabilities, `${where}.probabilities`),
        more,
      };
    }
    case 'score': {
      const { score, confidence, probabilities, legend, ...more } = answer;
      return {
        kind: 'score',
        score: requiredNumber(score, `${where}.score`),
        confidence: requiredNumber(confidence, `${where}.confidence`),
        probabilities: requiredNumbers(probabilities, `${where}.probabilities`),
        legend: new Map(Object.entries(requiredObject(legend, `${where}.legend`))),
        more,
      };
    }
    case 'box':
      return readBox(answer, where);
    default:
      throw new InvalidAnswer(`${where}.type is not known`);
  }
}

function readBox({ box, confidence, ...more }: Fields, where: string): Answer {
  return {
    kind: 'box',
    box: requiredBox(box, `${where}.box`),
    confidence: boxConfidence({ confidence }, where),
    more,
  };
}

/** Writes a decision as the body of an answer in the named-map format, as JSON text. Refusals are omitted. */
export function writeNamedMapAnswer(decision: Decision, questions: readonly Question[]): string {
  const keys = questionKeys(questions);
  const answers = questions.flatMap((question, index): readonly [string, ReadonlyMap<string, unknown>][] => {
    const answer = decision.answers[index];
    const key = keys[index];
    return key === undefined || answer === undefined || answer.kind === 'refusal'
      ? []
      : [[key, writeAnswer(question, answer)]];
  });
  const { inputTokens, outputTokens } = decision.usage;
  return orderedJson(
    new Map<string, unknown>([
      ['model', decision.model],
      ['answers', new Map(answers)],
      ['usage', { input_tokens: inputTokens, output_tokens: outputTokens, ...decision.usageMore }],
      ...Object.entries(decision.more),
    ]),
  );
}

function writeAnswer(question: Question, answer: Exclude<Answer, { kind: 'refusal' }>): ReadonlyMap<string, unknown> {
  const rest = Object.entries({ ...evidenceMembers(answer), ...answer.more });
  switch (answer.kind) {
    case 'predicate':
      return new Map<string, unknown>([['type', 'noul'], ['noul', answer.probability], ...rest]);
    case 'box':
      return new Map<string, unknown>([
        ['type', 'box'],
        ['box', answer.box],
        ['confidence', answer.confidence],
        ...rest,
      ]);
    case 'choice':
      return new Map<string, unknown>([
        ['type', 'choice'],
        ['choice', answer.choice],
        ['confidence', answer.confidence],
        ['probabilities', answer.probabilities],
        ...rest,
      ]);
    case 'score':
      return new Map<string, unknown>([
        ['type', 'score'],
        ['score', answer.score],
        ['confidence', answer.confidence],
        ['legend', legendOf(question, answer)],
        ['probabilities', levelProbabilities(question, answer)],
        ...rest,
      ]);
  }
}

type ScoreAnswer = Extract<Answer, { kind: 'score' }>;

/** Texts of the levels by index: from the upstream, else from the request. */
function legendOf(question: Question, { legend }: ScoreAnswer): ReadonlyMap<string, unknown> {
  const levels = question.kind === 'score' ? question.levels : [];
  const requestTexts = levels.map(({ label }, index): [string, unknown] => [String(index), contentValue(label)]);
  return new Map([...requestTexts, ...(legend ?? [])]);
}

/** A probability for every level of the question, in the order of the levels. 0 when the upstream reports none. */
function levelProbabilities(question: Question, { probabilities }: ScoreAnswer): ReadonlyMap<string, number> {
  const levels = question.kind === 'score' ? question.levels : [];
  return new Map(levels.map((_level, index) => [String(index), probabilities.get(String(index)) ?? 0]));
}
