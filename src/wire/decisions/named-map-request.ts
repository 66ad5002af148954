import { isJsonObject } from '../../domain/json-object.ts';
import type {
  BoxQuestion,
  ChoiceQuestion,
  Content,
  DecisionCore,
  DecisionInput,
  DecisionRequest,
  Media,
  Members,
  Option,
  PredicateQuestion,
  Question,
  ScoreQuestion,
} from '../../domain/decisions/decision.ts';
import { optionText, questionKeys } from '../../domain/decisions/decision.ts';
import { type Fields } from '../json/fields.ts';
import { keysInOrder, memberText, orderedJson } from '../json/key-order.ts';
import { invalidDecision } from './faults.ts';
import { contentText, contentValue, itemsText, plainInstructions } from './texts.ts';

const MAX_OPTIONS = 255;
const MAX_LEVELS = 10;

/**
 * Reads state and questions of a request in the named-map format. JavaScript objects sort integer names, so the order
 * of questions and options is read from `text`, the JSON text of the request. Throws InvalidInput.
 */
export function readNamedMap(body: Fields, text: Uint8Array | null): DecisionCore {
  if (body['input'] !== undefined && body['state'] !== undefined)
    throw invalidDecision('input', "it belongs to the standard format; this format has 'state'");
  return {
    input: readState(body['state']),
    questions: readQuestions(body['questions'], memberText(text, 'questions')),
  };
}

function readState(value: unknown): DecisionInput {
  if (value === undefined) throw invalidDecision('state', 'it is required');
  return readContent(value, 'state');
}

const isContent = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

function readContent(value: unknown, where: string): Content {
  if (!isContent(value)) throw invalidDecision(where, 'it must be a string, an object or an array');
  return typeof value === 'string' ? value : { json: value };
}

const optionalContent = (value: unknown, where: string): Content | null =>
  value === undefined || value === null ? null : readContent(value, where);

function readQuestions(value: unknown, text: Uint8Array | null): readonly Question[] {
  if (value === undefined) throw invalidDecision('questions', 'it is required');
  if (!isJsonObject(value)) throw invalidDecision('questions', 'it must be an object');
  const names = keysInOrder(value, text);
  if (names.length === 0) throw invalidDecision('questions', 'it must have at least 1 question');
  return names.map((name) => {
    if (name === '') throw invalidDecision('questions', 'a name must have at least 1 character');
    return readQuestion(name, value[name], memberText(text, name));
  });
}

function readQuestion(name: string, value: unknown, text: Uint8Array | null): Question {
  const where = `questions.${name.slice(0, 100)}`;
  if (!isJsonObject(value)) throw invalidDecision(where, 'it must be an object');
  const { type, instructions: content, criteria, ...more } = value;
  const instructions = optionalContent(content, `${where}.instructions`);
  const common = { name, instructions, more };
  switch (type) {
    case 'noul':
      return readPredicate(common, criteria, where);
    case 'choice': {
      const options = readOptions(criteria, memberText(text, 'criteria'), `${where}.criteria`);
      return { kind: 'choice', ...common, options };
    }
    case 'score':
      return { kind: 'score', ...common, levels: readLevels(criteria, `${where}.criteria`) };
    case 'box':
      if (instructions === null) throw invalidDecision(`${where}.instructions`, 'it is required');
      return { kind: 'box', ...common, more: criteria === undefined ? more : { criteria, ...more } };
    default:
      throw invalidDecision(`${where}.type`, 'it must be one of noul, choice, score, box');
  }
}

type Common = Pick<Question, 'name' | 'more'> & { readonly instructions: Content | null };

function readPredicate(common: Common, criteria: unknown, where: string): PredicateQuestion {
  if (criteria === undefined || criteria === null) {
    if (common.instructions === null) throw invalidDecision(where, 'it must have instructions or criteria');
    return { kind: 'predicate', ...common, rules: null };
  }
  if (!isJsonObject(criteria)) throw invalidDecision(`${where}.criteria`, 'it must be an object');
  const rules = Object.entries(criteria).map(([answer, rule]): readonly ['true' | 'false', Content | null] => {
    if (answer !== 'true' && answer !== 'false')
      throw invalidDecision(`${where}.criteria`, 'its members must be "true" and "false"');
    return [answer, optionalContent(rule, `${where}.criteria.${answer}`)];
  });
  return { kind: 'predicate', ...common, rules };
}

function readOptions(value: unknown, text: Uint8Array | null, where: string): readonly Option[] {
  if (!isJsonObject(value)) throw invalidDecision(where, 'it must be an object of options');
  const labels = keysInOrder(value, text);
  if (labels.length === 0 || labels.length > MAX_OPTIONS)
    throw invalidDecision(where, `it must have 1 to ${MAX_OPTIONS} options, not ${labels.length}`);
  return labels.map((label) => ({
    value: label,
    description: optionalContent(value[label], `${where}.${label.slice(0, 100)}`),
  }));
}

function readLevels(value: unknown, where: string): ScoreQuestion['levels'] {
  if (!Array.isArray(value)) throw invalidDecision(where, 'it must be an array of levels');
  if (value.length === 0 || value.length > MAX_LEVELS)
    throw invalidDecision(where, `it must have 1 to ${MAX_LEVELS} levels, not ${value.length}`);
  return value.map((one: unknown, index) => ({ label: readContent(one, `${where}.${index}`), description: null }));
}

/** Replacements for images in messages. This format has no messages. */
export interface ImagesInState {
  /** Text in the state that replaces an image. Null omits it. */
  readonly textOf: (url: string) => string | null;
  /** Members of the request that contain the images. */
  readonly members: Members;
}

/**
 * Writes a decision as a request of the named-map format, as JSON text. `model` is null when the URL contains it.
 */
export function writeNamedMap(decision: DecisionRequest, model: string | null, messageImages: ImagesInState): string {
  const { input, questions, assets, images, audio, videos } = decision;
  const keys = questionKeys(questions);
  const members = new Map<string, unknown>();
  if (model !== null) members.set('model', model);
  members.set('state', stateOf(input, messageImages));
  if (images.length > 0) members.set('images', images.map(writeMedia));
  for (const [name, value] of Object.entries(messageImages.members)) members.set(name, value);
  if (assets.length > 0) members.set('assets', new Map(assets));
  if (audio.length > 0) members.set('audio', audio.map(writeMedia));
  if (videos.length > 0) members.set('videos', videos.map(writeMedia));
  members.set('questions', new Map(questions.map((question, index) => [keys[index], writeQuestion(question)])));
  return orderedJson(members);
}

const stateOf = (input: DecisionInput, { textOf }: ImagesInState): unknown =>
  typeof input === 'object' && 'items' in input ? itemsText(input.items, textOf) : contentValue(input);

const writeMedia = (media: Media): unknown =>
  typeof media === 'string' ? media : { content_type: media.contentType, base64: media.base64 };

/** Members of a question, in the order of the format. */
function writeQuestion(question: Question): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>([['type', question.kind === 'predicate' ? 'noul' : question.kind]]);
  if (question.instructions !== null)
    members.set('instructions', contentValue(plainInstructions(question.instructions)));
  const criteria = criteriaOf(question);
  if (criteria !== undefined) members.set('criteria', criteria);
  for (const [name, value] of Object.entries(question.more)) members.set(name, value);
  return members;
}

function criteriaOf(question: PredicateQuestion | ChoiceQuestion | ScoreQuestion | BoxQuestion): unknown {
  switch (question.kind) {
    case 'predicate':
      return question.rules === null ? undefined : new Map(question.rules.map(([key, rule]) => [key, valueOf(rule)]));
    case 'choice':
      return new Map(question.options.map((option) => [optionText(option), valueOf(option.description)]));
    case 'score':
      return question.levels.map(({ label, description }) =>
        description === null ? contentValue(label) : `${contentText(label)}: ${description}`,
      );
    case 'box':
      return undefined;
  }
}

const valueOf = (content: Content | null): unknown => (content === null ? null : contentValue(content));
