import { isJsonObject } from '../../domain/json-object.ts';
import type {
  ChoiceQuestion,
  DecisionCore,
  DecisionInput,
  DecisionRequest,
  Instructions,
  Level,
  Media,
  Members,
  Option,
  Question,
} from '../../domain/decisions/decision.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { type Fields } from '../json/fields.ts';
import { assertKnown, invalidDecision } from './faults.ts';
import { readInstructionParts, readItems, writeItem } from './standard-items.ts';
import { contentText } from './texts.ts';

const MAX_OPTIONS = 255;
const MAX_LEVELS = 10;
/** Minimum number of options of a choice and levels of a score. */
const MIN_ENTRIES = 2;

/** Reads input and questions of a request in the standard format. Throws InvalidInput. */
export function readStandard(body: Fields): DecisionCore {
  return { input: readInput(body['input']), questions: readQuestions(body['questions']) };
}

function readInput(value: unknown): DecisionInput {
  if (value === undefined) throw invalidDecision('input', 'it is required');
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw invalidDecision('input', 'it must be a string or an array of messages');
  return { items: readItems(value) };
}

function readQuestions(value: unknown): readonly Question[] {
  if (value === undefined) throw invalidDecision('questions', 'it is required');
  if (!Array.isArray(value)) throw invalidDecision('questions', 'it must be an array');
  if (value.length === 0) throw invalidDecision('questions', 'it must have at least 1 item');
  return value.map((one: unknown, index) => readQuestion(one, `questions.${index}`));
}

function readQuestion(value: unknown, where: string): Question {
  if (!isJsonObject(value)) throw invalidDecision(where, 'it must be an object');
  const common = { name: optionalText(value['name'], `${where}.name`), more: {} };
  const commonMembers = ['type', 'name', 'instructions'];
  switch (value['type']) {
    case 'predicate':
      assertKnown(value, commonMembers, where);
      return { kind: 'predicate', ...common, instructions: readInstructions(value, where), rules: null };
    case 'choice':
      assertKnown(value, [...commonMembers, 'choices'], where);
      return {
        kind: 'choice',
        ...common,
        instructions: readInstructions(value, where),
        options: readOptions(value['choices'], `${where}.choices`),
      };
    case 'score':
      assertKnown(value, [...commonMembers, 'levels'], where);
      return {
        kind: 'score',
        ...common,
        instructions: readInstructions(value, where),
        levels: readLevels(value['levels'], `${where}.levels`),
      };
    case 'box':
      assertKnown(value, commonMembers, where);
      return { kind: 'box', ...common, instructions: readInstructions(value, where) };
    default:
      throw invalidDecision(`${where}.type`, 'it must be one of predicate, choice, score, box');
  }
}

function readInstructions({ instructions }: Fields, where: string): Instructions {
  if (typeof instructions === 'string') return instructions;
  if (Array.isArray(instructions)) return { parts: readInstructionParts(instructions, `${where}.instructions`) };
  throw invalidDecision(`${where}.instructions`, 'it must be a string or an array of parts');
}

function readOptions(value: unknown, where: string): readonly Option[] {
  const options = entriesOf(value, where, MAX_OPTIONS).map((one, index): Option => {
    const place = `${where}.${index}`;
    assertKnown(one, ['value', 'description'], place);
    return {
      value: optionValue(one['value'], place),
      description: optionalText(one['description'], `${place}.description`),
    };
  });
  if (new Set(options.map((option) => String(option.value))).size < options.length)
    throw invalidDecision(where, 'the values must be distinct, also as text');
  return options;
}

/** Value of an option. 1 and 0 become booleans, as in LiteLLM. */
function optionValue(value: unknown, where: string): string | boolean {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value === 1 || value === 0) return value === 1;
  throw invalidDecision(`${where}.value`, 'it must be a string or a boolean');
}

const readLevels = (value: unknown, where: string): readonly Level[] =>
  entriesOf(value, where, MAX_LEVELS).map((one, index) => {
    const place = `${where}.${index}`;
    assertKnown(one, ['label', 'description'], place);
    const { label } = one;
    if (typeof label !== 'string') throw invalidDecision(`${place}.label`, 'it must be a string');
    return { label, description: optionalText(one['description'], `${place}.description`) };
  });

function entriesOf(value: unknown, where: string, max: number): readonly Fields[] {
  if (!Array.isArray(value)) throw invalidDecision(where, 'it must be an array of objects');
  if (value.length < MIN_ENTRIES || value.length > max)
    throw invalidDecision(where, `it must have ${MIN_ENTRIES} to ${max} items, not ${value.length}`);
  return value.map((one: unknown, index) => {
    if (!isJsonObject(one)) throw invalidDecision(`${where}.${index}`, 'it must be an object');
    return one;
  });
}

function optionalText(value: unknown, where: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  throw invalidDecision(where, 'it must be a string');
}

/**
 * Writes a decision as a request of the standard format. Throws InvalidInput for questions that the format cannot
 * express.
 */
export function writeStandard(decision: DecisionRequest, model: string): Members {
  const { input, images, questions, safetyIdentifier } = decision;
  return {
    model,
    input: writeInput(input, images),
    questions: questions.map(writeQuestion),
    ...(safetyIdentifier === null ? {} : { safety_identifier: safetyIdentifier }),
  };
}

function writeInput(input: DecisionInput, images: readonly Media[]): unknown {
  if (typeof input === 'object' && 'items' in input) return input.items.map(writeItem);
  const text = contentText(input);
  if (images.length === 0) return text;
  const imageParts = images.map((image) => ({ type: 'input_image', image_url: imageUrlOf(image) }));
  return [{ role: 'user', type: 'message', content: [...imageParts, { type: 'input_text', text }] }];
}

const imageUrlOf = (image: Media): string =>
  typeof image === 'string' ? image : `data:${image.contentType};base64,${image.base64}`;

/** Default instructions. The standard format requires instructions, the named-map format does not. */
const DEFAULT_INSTRUCTIONS = {
  predicate: 'Is this true of the input?',
  choice: 'Which choice best fits the input?',
  score: 'Which level best fits the input?',
  box: 'Where is it in the image?',
} as const;

function writeQuestion(question: Question): Members {
  const { kind, name, instructions } = question;
  const common = { type: kind, ...(name === null ? {} : { name }) };
  switch (question.kind) {
    case 'predicate':
      return { ...common, instructions: predicateText(instructions, question.rules ?? []) };
    case 'choice':
      return {
        ...common,
        instructions: instructionsOf(instructions, DEFAULT_INSTRUCTIONS.choice),
        choices: choicesOf(question),
      };
    case 'score': {
      assertMinEntries(question.levels.length);
      const levels = question.levels.map(({ label, description }) => ({
        label: contentText(label),
        ...(description === null ? {} : { description }),
      }));
      return { ...common, instructions: instructionsOf(instructions, DEFAULT_INSTRUCTIONS.score), levels };
    }
    case 'box':
      return { ...common, instructions: instructionsOf(instructions, DEFAULT_INSTRUCTIONS.box) };
  }
}

function choicesOf({ options }: ChoiceQuestion): readonly Members[] {
  assertMinEntries(options.length);
  return options.map(({ value, description }) => ({
    value,
    ...(description === null ? {} : { description: contentText(description) }),
  }));
}

function assertMinEntries(count: number): void {
  if (count < MIN_ENTRIES)
    throw new InvalidInput(
      `litellm.BadRequestError: The upstream of this model takes choices and scores with at least ${MIN_ENTRIES} entries only.`,
    );
}

const instructionsOf = (instructions: Instructions | null, fallback: string): unknown => {
  if (instructions === null) return fallback;
  if (typeof instructions === 'object' && 'parts' in instructions) return instructions.parts.map(({ sent }) => sent);
  return contentText(instructions);
};

type Rules = readonly (readonly ['true' | 'false', string | { readonly json: unknown } | null])[];

/** Instructions of a predicate. The standard format has no rules, so they become paragraphs of the instructions. */
function predicateText(instructions: Instructions | null, rules: Rules): unknown {
  if (typeof instructions === 'object' && instructions !== null && 'parts' in instructions)
    return instructionsOf(instructions, DEFAULT_INSTRUCTIONS.predicate);
  const ruleTexts = rules.flatMap(([answer, rule]) =>
    rule === null ? [] : [`Answer ${answer} when: ${contentText(rule)}`],
  );
  const paragraphs = [...(instructions === null ? [] : [contentText(instructions)]), ...ruleTexts];
  return paragraphs.length === 0 ? DEFAULT_INSTRUCTIONS.predicate : paragraphs.join('\n\n');
}
