import { type Command, FORMAT, type Options } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, UsageFailure } from '../failure.ts';
import { cell, jsonText, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, textOrNull, type Values } from '../values.ts';
import { printAnswer } from './print-answer.ts';

/** The objects in `data` of an answer. */
export const dataOf = (answer: unknown): readonly JsonObject[] =>
  itemsOf(jsonObjectOf(answer)['data']).map(jsonObjectOf);

/** Unix seconds or an ISO time as `YYYY-MM-DD hh:mm`, UTC. Other texts are returned unchanged; other values are ''. */
export function timeText(value: unknown): string {
  const seconds = numberOrNull(value);
  const date = new Date(seconds === null ? (textOrNull(value) ?? '') : seconds * 1_000);
  return Number.isNaN(date.getTime()) ? (textOrNull(value) ?? '') : date.toISOString().slice(0, 16).replace('T', ' ');
}

/** Price of a thousand tokens in USD, from the price of a token. */
function priceText(value: unknown): string {
  const price = typeof value === 'string' && value !== '' ? Number(value) : numberOrNull(value);
  return price === null || Number.isNaN(price) ? cell(value ?? '') : `$${(price * 1_000).toFixed(4)}`;
}

/** Columns of `models info`: the title, and a function from a row to its cell. */
const INFO_COLUMNS: Readonly<Record<string, readonly [string, (row: JsonObject) => string]>> = {
  public_model: ['Public Model', (row) => cell(row['model_name'])],
  upstream_model: ['Upstream Model', (row) => cell(jsonObjectOf(row['litellm_params'])['model'] ?? '')],
  credential_name: [
    'Credential Name',
    (row) => cell(jsonObjectOf(row['litellm_params'])['litellm_credential_name'] ?? ''),
  ],
  created_at: ['Created At', (row) => timeText(jsonObjectOf(row['model_info'])['created_at'])],
  updated_at: ['Updated At', (row) => timeText(jsonObjectOf(row['model_info'])['updated_at'])],
  id: ['ID', (row) => cell(jsonObjectOf(row['model_info'])['id'] ?? '')],
  input_cost: ['Input Cost', (row) => priceText(jsonObjectOf(row['model_info'])['input_cost_per_token'])],
  output_cost: ['Output Cost', (row) => priceText(jsonObjectOf(row['model_info'])['output_cost_per_token'])],
};

async function modelRows(context: Context): Promise<readonly JsonObject[]> {
  return dataOf(await context.send('GET', '/v1/model/info'));
}

const PARAMETERS: Options = {
  param: { type: 'string', short: 'p', multiple: true, help: 'Model parameter as key=value, may be repeated' },
  info: { type: 'string', short: 'i', multiple: true, help: 'Member of model_info as key=value, may be repeated' },
};

/** Body of `models add` and `models update`. */
const modelBody = (values: Values): JsonObject => ({
  litellm_params: values.pairs('param'),
  ...(values.has('info') ? { model_info: values.pairs('info') } : {}),
});

const post = (context: Context, path: string, json: unknown): Promise<void> =>
  printAnswer(context, 'POST', path, { json });

async function listModels(context: Context, values: Values): Promise<void> {
  const models = dataOf(await context.send('GET', '/models'));
  const rows = models.map((model) => [
    cell(model['id']),
    cell(model['object'] ?? 'model'),
    timeText(model['created']),
    cell(model['owned_by'] ?? ''),
  ]);
  context.host.terminal.print(
    values.text('format') === 'json'
      ? jsonText(models)
      : table('Available Models', ['ID', 'Object', 'Created', 'Owned By'], rows),
  );
}

async function showModels(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const rows = await modelRows(context);
  if (values.text('format') === 'json') return terminal.print(jsonText(rows));
  const columns = (values.list('columns') ?? []).flatMap((name) => {
    const column = Object.hasOwn(INFO_COLUMNS, name) ? INFO_COLUMNS[name] : undefined;
    if (column === undefined) terminal.note(`Warning: Unknown column '${name}'`);
    return column === undefined ? [] : [column];
  });
  const head = columns.map(([title]) => title);
  terminal.print(
    table(
      'Models Information',
      head,
      rows.map((row) => columns.map(([, read]) => read(row))),
    ),
  );
}

async function getModel(context: Context, values: Values): Promise<void> {
  const [id, name] = [values.text('id'), values.text('name')];
  if (id === null && name === null) throw new UsageFailure('Either --id or --name must be provided');
  const found = (await modelRows(context)).find(
    (row) =>
      (id === null || jsonObjectOf(row['model_info'])['id'] === id) && (name === null || row['model_name'] === name),
  );
  if (found === undefined) throw new CommandFailure(`Model not found: ${id ?? name}`);
  context.host.terminal.print(jsonText(found));
}

async function listGroups(context: Context, values: Values): Promise<void> {
  const groups = dataOf(await context.send('GET', '/model_group/info'));
  const rows = groups.map((group) => [
    cell(group['model_group']),
    cell(group['mode']),
    cell(group['input_cost_per_token']),
    cell(group['output_cost_per_token']),
  ]);
  context.host.terminal.print(
    values.text('format') === 'json'
      ? jsonText(groups)
      : table('Accessible Model Groups', ['Model', 'Mode', 'Input $/token', 'Output $/token'], rows),
  );
}

export const modelCommands: readonly Command[] = [
  {
    names: ['models', 'list'],
    summary: 'List all available models',
    options: FORMAT,
    failures: 'line',
    run: listModels,
  },
  {
    names: ['models', 'info'],
    summary: 'Get detailed information about all models',
    options: {
      ...FORMAT,
      columns: {
        type: 'string',
        default: 'public_model,upstream_model,updated_at',
        help: `Columns of the table, of ${Object.keys(INFO_COLUMNS).join(', ')}`,
      },
    },
    run: showModels,
  },
  {
    names: ['models', 'get'],
    summary: 'Get information about a specific model',
    options: {
      id: { type: 'string', help: 'ID of the model' },
      name: { type: 'string', help: 'Name of the model' },
    },
    run: getModel,
  },
  {
    names: ['models', 'add'],
    summary: 'Add a new model to the server',
    operands: ['model-name'],
    options: PARAMETERS,
    run: (context, values) => post(context, '/model/new', { model_name: values.operand(0), ...modelBody(values) }),
  },
  {
    names: ['models', 'update'],
    summary: "Update an existing model's configuration",
    operands: ['model-id'],
    options: PARAMETERS,
    run(context, values) {
      const { litellm_params, model_info } = modelBody(values);
      const json = { litellm_params, model_info: { ...jsonObjectOf(model_info), id: values.operand(0) } };
      return post(context, '/model/update', json);
    },
  },
  {
    names: ['models', 'delete'],
    summary: 'Delete a model from the server',
    operands: ['model-id'],
    run: (context, values) => post(context, '/model/delete', { id: values.operand(0) }),
  },
  {
    names: ['model-groups', 'list'],
    summary: 'List the model groups that your key can access',
    options: FORMAT,
    run: listGroups,
  },
];
