import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { DecisionRequest } from '../../../src/domain/decisions/decision.ts';
import { readNamedMapAnswer, writeNamedMapAnswer } from '../../../src/wire/decisions/named-map-answer.ts';
import { readNamedMap, writeNamedMap } from '../../../src/wire/decisions/named-map-request.ts';
import { readStandardAnswer, writeStandardAnswer } from '../../../src/wire/decisions/standard-answer.ts';
import { readStandard, writeStandard } from '../../../src/wire/decisions/standard-request.ts';
import { randomFrom } from '../../support/random.ts';

/** Number of requests of one run. Each has 1 to 8 questions. */
const REQUESTS = 10_000;

type Random = (bound: number) => number;
type Json = Readonly<Record<string, unknown>>;

const NOTHING = { images: [], assets: [], audio: [], videos: [], safetyIdentifier: null };
const NO_IMAGES = { textOf: () => null, members: {} };

/** Words with characters that need escapes, that JavaScript treats specially as keys, or that are numbers. */
const WORDS = ['yes', '7', '0', '42', 'é', '"quoted"', '\\', '__proto__', 'constructor', '\u2028', '😀', 'a b', ''];
const word = (random: Random): string => `${WORDS[random(WORDS.length)] ?? ''}${random(3) === 0 ? '' : random(50)}`;

const distinctWords = (random: Random, count: number): readonly string[] => {
  const words = new Set<string>();
  while (words.size < count) words.add(word(random));
  return [...words];
};

function randomQuestion(random: Random, name: string | null): Json {
  const fields = { ...(name === null ? {} : { name }), instructions: word(random) };
  const described = (): object => (random(2) === 0 ? {} : { description: word(random) });
  switch (random(4)) {
    case 0:
      return { type: 'predicate', ...fields };
    case 1: {
      const values: readonly (string | boolean)[] =
        random(4) === 0 ? [true, false] : distinctWords(random, 2 + random(6));
      return { type: 'choice', ...fields, choices: values.map((value) => ({ value, ...described() })) };
    }
    case 2: {
      const levels = Array.from({ length: 2 + random(8) }, () => ({ label: word(random), ...described() }));
      return { type: 'score', ...fields, levels };
    }
    default:
      return { type: 'box', ...fields };
  }
}

function randomRequest(random: Random): Json {
  const count = 1 + random(8);
  // Names in a map are at least one character long.
  const names = distinctWords(random, count).map((name) => `n${name}`);
  const isNamed = random(3) > 0;
  const questions = names.map((name, index) => randomQuestion(random, isNamed || index % 2 === 0 ? name : null));
  return { model: 'm', input: word(random), questions };
}

/** `count` random probabilities whose sum is 1, except for rounding. */
function distribution(random: Random, count: number): readonly number[] {
  const weights = Array.from({ length: count }, () => 1 + random(1000));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function randomAnswer(random: Random, question: Json): Json {
  const name = question['name'] ?? null;
  if (random(8) === 0) return { type: 'refusal', name };
  const { type, choices = [], levels = [] } = question as { type: string; choices?: Json[]; levels?: Json[] };
  const shares = distribution(random, Math.max(choices.length, levels.length));
  switch (type) {
    case 'predicate':
      return { type, name, probability: random(1001) / 1000 };
    case 'choice': {
      const probabilities = choices.map(({ value }, index) => ({ value, probability: shares[index] }));
      return {
        type,
        name,
        choice: choices[random(choices.length)]?.['value'],
        probabilities,
        confidence: random(11) / 10,
      };
    }
    case 'score': {
      const probabilities = levels.map(({ label }, value) => ({ value, label, probability: shares[value] }));
      return { type, name, score: random(90) / 10, probabilities, confidence: random(11) / 10 };
    }
    default:
      return { type, name, box: { top: 0.1, bottom: 0.2, left: 0.3, right: 0.4 }, confidence: null };
  }
}

/**
 * The request after a round trip through the named-map format. Every question has a name. A boolean value is its text.
 * The description of a level is part of its label.
 */
function expectedAfterNamedMap(request: Json): Json {
  const questions = request['questions'] as readonly Json[];
  const isNamed = questions.every(({ name }) => name !== undefined);
  return {
    ...request,
    questions: questions.map((question, index) => {
      const { type, name, instructions, choices, levels } = question as Readonly<Record<string, Json[]>>;
      return {
        type,
        name: isNamed ? name : String(index),
        instructions,
        ...(choices && { choices: choices.map(({ value, ...others }) => ({ value: String(value), ...others })) }),
        ...(levels && {
          levels: levels.map(({ label, description }) => ({
            label: description === undefined ? label : [label, description].join(': '),
          })),
        }),
      };
    }),
  };
}

function throughNamedMap(request: Json): unknown {
  const fromStandard: DecisionRequest = { ...readStandard(request), ...NOTHING };
  const text = writeNamedMap(fromStandard, 'm', NO_IMAGES);
  const fromNamedMap = { ...readNamedMap(JSON.parse(text) as Json, Buffer.from(text)), ...NOTHING };
  return writeStandard(fromNamedMap, 'm');
}

function answerThroughNamedMap(request: Json, answer: Json): unknown {
  const { questions } = readStandard(request);
  const fromStandard = readStandardAnswer(answer, questions);
  const fromNamedMap = readNamedMapAnswer(JSON.parse(writeNamedMapAnswer(fromStandard, questions)), questions);
  return writeStandardAnswer(fromNamedMap, questions, 'unused');
}

/** Equality as JSON. `toEqual` takes a millisecond for each value. */
function isEqual(actual: unknown, expected: unknown): boolean {
  const [left, right] = [actual, expected].map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  return isDeepStrictEqual(left, right);
}

it(`${REQUESTS} random requests keep what the named-map format can represent, and their answers keep everything`, () => {
  const random = randomFrom(20_261_123);
  const changed: unknown[] = [];
  for (let index = 0; index < REQUESTS; index += 1) {
    const request = randomRequest(random);
    const { questions } = request as { questions: readonly Json[] };
    if (!isEqual(throughNamedMap(request), expectedAfterNamedMap(request))) changed.push(request);
    const usage = { input_tokens: random(1000), output_tokens: random(10) };
    const answer = {
      model: 'upstream',
      answers: questions.map((question) => randomAnswer(random, question)),
      usage: {
        ...usage,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input_tokens + usage.output_tokens,
      },
    };
    if (!isEqual(answerThroughNamedMap(request, answer), answer)) changed.push({ request, answer });
  }
  expect(changed).toEqual([]);
});
