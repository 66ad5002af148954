import { type Command, JSON_OUTPUT } from '../command.ts';
import type { Context } from '../context.ts';
import { cell, jsonText, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, type Values } from '../values.ts';
import { usdText } from './traces.ts';

const latestRun = (lens: JsonObject): JsonObject => jsonObjectOf(itemsOf(lens['jobs'])[0]);

const findingsOf = (lens: JsonObject): readonly JsonObject[] => itemsOf(lens['findings']).map(jsonObjectOf);

const rowOf = (lens: JsonObject): readonly string[] => {
  const settings = jsonObjectOf(lens['settings']);
  const run = latestRun(lens);
  return [
    cell(lens['id']),
    cell(settings['name']),
    cell(settings['model']),
    settings['enabled'] === true ? `every ${cell(settings['interval_minutes'])} min` : 'off',
    cell(run['status'] ?? ''),
    String(findingsOf(lens).length),
    usdText(lens['spent']),
  ];
};

const HEAD = ['ID', 'Name', 'Model', 'Repeats', 'Latest Run', 'Findings', 'Spent'];

async function listLenses(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const answer = await context.send('GET', '/lens');
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const lenses = itemsOf(jsonObjectOf(answer)['lenses']).map(jsonObjectOf);
  terminal.print(lenses.length === 0 ? 'No lenses found.' : table('Lenses', HEAD, lenses.map(rowOf)));
}

const pathOf = (values: Values): string => `/lens/${encodeURIComponent(values.operand(0))}`;

async function showLens(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const answer = await context.send('GET', pathOf(values));
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const lens = jsonObjectOf(answer);
  terminal.print(table('Lens', HEAD, [rowOf(lens)]));
  const { error, coverage } = latestRun(lens);
  if (typeof error === 'string' && error !== '') terminal.print(`Error of the latest run: ${cell(error)}`);
  const eligible = numberOrNull(jsonObjectOf(coverage)['eligible']);
  if (eligible !== null) terminal.print(`Agent executions for the latest run: ${eligible}`);
  const rows = findingsOf(lens).map((finding) =>
    [finding['id'], finding['priority'], finding['status'], finding['title']].map((value) => cell(value ?? '')),
  );
  if (rows.length > 0) terminal.print(table('Findings', ['ID', 'Priority', 'Status', 'Title'], rows));
}

async function runLens(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const answer = await context.send('POST', `${pathOf(values)}/runs`, { json: {} });
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const lens = jsonObjectOf(answer);
  const run = lens['jobs'] === undefined ? lens : latestRun(lens);
  terminal.print(`Run ${cell(run['id'])}: ${cell(run['status'])}`);
}

export const lensCommands: readonly Command[] = [
  { names: ['lens'], summary: 'List lenses', options: JSON_OUTPUT, failures: 'line', run: listLenses },
  { names: ['lens', 'list'], summary: 'List lenses', options: JSON_OUTPUT, failures: 'line', run: listLenses },
  {
    names: ['lens', 'show'],
    summary: 'Show a lens with its findings',
    operands: ['lens-id'],
    options: JSON_OUTPUT,
    failures: 'line',
    run: showLens,
  },
  {
    names: ['lens', 'run'],
    summary: 'Start a run of a lens',
    operands: ['lens-id'],
    options: JSON_OUTPUT,
    failures: 'line',
    run: runLens,
  },
];
