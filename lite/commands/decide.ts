import { readFileSync } from 'node:fs';
import { type Command, JSON_OUTPUT } from '../command.ts';
import type { Context } from '../context.ts';
import { textOf, UsageFailure } from '../failure.ts';
import { cell, jsonText, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, parseJson, type Values } from '../values.ts';

/** File descriptor of stdin. */
const STDIN = 0;
/** Deadline of a decision, in ms. */
const DECISION_MS = 600_000;
/** Digits of a probability after the point. */
const DIGITS = 3;

/** Text of a file; of stdin for `-`. Throws UsageFailure. */
function textOfFile(path: string): string {
  try {
    return readFileSync(path === '-' ? STDIN : path, 'utf8');
  } catch (error) {
    throw new UsageFailure(`'${path}' cannot be read: ${textOf(error)}`);
  }
}

/** A predicate from `name=instructions`. */
function predicateOf(text: string): JsonObject {
  const [, name, instructions] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined)
    throw new UsageFailure(`Invalid value for '--predicate': '${text}' is not name=instructions.`);
  return { type: 'predicate', name: name.trim(), instructions };
}

/** A choice from `name:a,b,c=instructions`. */
function choiceOf(text: string): JsonObject {
  const [, name, list, instructions] = /^([^:=]+):([^=]+)=(.+)$/s.exec(text) ?? [];
  const choices = (list ?? '').split(',').map((value) => ({ value: value.trim() }));
  if (name === undefined || choices.some(({ value }) => value === ''))
    throw new UsageFailure(`Invalid value for '--choice': '${text}' is not name:a,b,c=instructions.`);
  return { type: 'choice', name: name.trim(), instructions, choices };
}

function questionsOf(values: Values): readonly unknown[] {
  const file = values.text('questions');
  const read = file === null ? [] : parseJson(textOfFile(file));
  if (!Array.isArray(read)) throw new UsageFailure("Invalid value for '--questions': the file is no JSON list.");
  const questions: readonly unknown[] = [
    ...(read as readonly unknown[]),
    ...values.texts('predicate').map(predicateOf),
    ...values.texts('choice').map(choiceOf),
  ];
  if (questions.length === 0) throw new UsageFailure('Pass a question: --predicate, --choice or --questions.');
  return questions;
}

const numberText = (value: unknown): string => numberOrNull(value)?.toFixed(DIGITS) ?? '';

function rowOf(answer: JsonObject): readonly string[] {
  const probabilities = itemsOf(answer['probabilities']).map((item) => {
    const { value, label, probability } = jsonObjectOf(item);
    return `${cell(label ?? value)} ${numberText(probability)}`;
  });
  const isPredicate = answer['type'] === 'predicate';
  const result = answer['choice'] ?? answer['score'] ?? answer['refusal'] ?? '';
  return [
    cell(answer['name'] ?? ''),
    cell(answer['type'] ?? ''),
    isPredicate && numberOrNull(answer['probability']) !== null ? '' : cell(result),
    isPredicate ? numberText(answer['probability']) : probabilities.join(', '),
  ];
}

async function decide(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const [model, text] = [values.operand(0), values.operands[1] ?? '-'];
  if (text === '-' && values.text('questions') === '-')
    throw new UsageFailure('Only one of the input and --questions can be read from stdin.');
  const questions = questionsOf(values);
  const json = { model, input: text === '-' ? textOfFile('-') : text, questions };
  const answer = await context.send('POST', '/v1/decisions', { json, deadlineMs: DECISION_MS });
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const rows = itemsOf(jsonObjectOf(answer)['answers']).map((item) => rowOf(jsonObjectOf(item)));
  terminal.print(table('Decisions', ['Question', 'Type', 'Answer', 'Probability'], rows));
}

export const decideCommands: readonly Command[] = [
  {
    names: ['decide'],
    summary: 'Answer typed questions about a text, with probabilities',
    operands: ['model', 'input?'],
    options: {
      predicate: { type: 'string', short: 'p', multiple: true, help: 'Yes-or-no question, as name=instructions' },
      choice: { type: 'string', short: 'c', multiple: true, help: 'Choice, as name:a,b,c=instructions' },
      questions: { type: 'string', help: 'File with a JSON list of questions' },
      ...JSON_OUTPUT,
    },
    failures: 'line',
    run: decide,
  },
];
