import { readFileSync } from 'node:fs';
import type { Command } from '../command.ts';
import { type Context } from '../context.ts';
import { CommandFailure, Ended, textOf, UsageFailure } from '../failure.ts';
import { cell, plain, table } from '../terminal/table.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, textOrNull, type Values } from '../values.ts';

/** One entry of `model_list`. */
interface Entry {
  readonly name: string;
  /** Model of the provider, such as `openai/gpt-4o`. */
  readonly upstream: string;
  readonly groups: readonly string[];
  readonly parameters: JsonObject;
  readonly info: JsonObject;
}

function entryOf(value: unknown): Entry | null {
  const members = jsonObjectOf(value);
  const [parameters, info] = [jsonObjectOf(members['litellm_params']), jsonObjectOf(members['model_info'])];
  const [name, upstream] = [textOrNull(members['model_name']), textOrNull(parameters['model'])];
  if (name === null || upstream === null) return null;
  const groups = itemsOf(info['access_groups']).filter((group) => typeof group === 'string');
  return { name, upstream, groups, parameters, info };
}

/** Reads entries; null for an invalid one. Throws UsageFailure for no readable file, CommandFailure for no list. */
async function readEntries(path: string): Promise<readonly (Entry | null)[]> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageFailure(`Invalid value for 'YAML_FILE': Path '${path}' cannot be read: ${textOf(error)}`);
  }
  const { parse } = await import('yaml');
  const document = parseYaml(path, text, parse);
  const list = isJsonObject(document) ? document['model_list'] : undefined;
  if (list === undefined) throw new CommandFailure("YAML file must contain a 'model_list' key with a list of models.");
  if (!Array.isArray(list)) throw new CommandFailure("'model_list' must be a list of model definitions.");
  return list.map(entryOf);
}

function parseYaml(path: string, text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    // Later lines of the parser's message repeat lines of the file, which may have keys.
    throw new CommandFailure(`${path} is no YAML: ${textOf(error).split('\n')[0]}`);
  }
}

function patternOf(values: Values, name: string): RegExp | null {
  const text = values.text(name);
  if (text === null) return null;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageFailure(`Invalid value for '--${name}': ${textOf(error)}`);
  }
}

async function importModels(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const [models, groups] = [
    patternOf(values, 'only-models-matching-regex'),
    patternOf(values, 'only-access-groups-matching-regex'),
  ];
  const entries = await readEntries(values.operand(0));
  const invalid = entries.filter((entry) => entry === null).length;
  if (invalid > 0)
    terminal.note(`Warning: ${invalid} entries without model_name or litellm_params.model are left out.`);
  const selected = entries.filter(
    (entry): entry is Entry =>
      entry !== null &&
      (models === null || models.test(entry.upstream)) &&
      (groups === null || entry.groups.some((group) => groups.test(group))),
  );
  const isDryRun = values.flag('dry-run');
  const imported = isDryRun ? selected : await sendEntries(context, selected);
  const title = isDryRun ? 'Models that would be imported if --dry-run was not provided' : 'Models Imported';
  printEntries(context, title, imported);
  if (imported.length < selected.length) throw new Ended(1);
}

/** Adds the models one after another. Reports failures on stderr. Returns the added models. */
async function sendEntries(context: Context, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const client = await context.client();
  const added: Entry[] = [];
  for (const entry of entries) {
    const json = { model_name: entry.name, litellm_params: entry.parameters, model_info: entry.info };
    try {
      await client.send('POST', '/model/new', { json });
      added.push(entry);
    } catch (error) {
      context.host.terminal.note(`Failed to import model ${plain(entry.name)}: ${plain(textOf(error))}`);
    }
  }
  return added;
}

function printEntries({ host: { terminal } }: Context, title: string, entries: readonly Entry[]): void {
  const rows = entries.map(({ name, upstream, groups }) => [cell(name), cell(upstream), cell(groups.join(', '))]);
  if (rows.length > 0) terminal.print(table(title, ['Model Name', 'Upstream Model', 'Access Groups'], rows));
  const counts = new Map<string, number>();
  for (const { upstream } of entries) {
    const provider = upstream.includes('/') ? (upstream.split('/')[0] ?? '') : upstream;
    counts.set(provider, (counts.get(provider) ?? 0) + 1);
  }
  const summary = [...counts].map(([provider, count]) => [cell(provider), String(count)]);
  terminal.print(table('Model Import Summary', ['Provider', 'Count'], [...summary, ['Total', String(entries.length)]]));
}

export const modelImportCommands: readonly Command[] = [
  {
    names: ['models', 'import'],
    summary: 'Import models from a YAML file and add them to the server',
    operands: ['yaml-file'],
    options: {
      'dry-run': { type: 'boolean', help: 'Show what would be imported, without changes' },
      'only-models-matching-regex': { type: 'string', help: 'Only models whose litellm_params.model matches' },
      'only-access-groups-matching-regex': { type: 'string', help: 'Only models with an access group that matches' },
    },
    run: importModels,
  },
];
