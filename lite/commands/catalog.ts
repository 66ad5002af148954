import { type Command, JSON_OUTPUT } from '../command.ts';
import type { Context } from '../context.ts';
import { cell, jsonText, plain, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, type Values } from '../values.ts';

const TOKENS_PER_PRICE = 1_000_000;

/** Significant digits of a price: more would show rounding errors of floats. */
const PRICE_DIGITS = 6;

/** Price of a million tokens in USD, from the price of a token. */
const priceText = (value: unknown): string => {
  const price = numberOrNull(value);
  if (price === null) return '';
  return `$${Number((price * TOKENS_PER_PRICE).toPrecision(PRICE_DIGITS))}`;
};

const rowOf = (entry: JsonObject): readonly string[] => [
  cell(entry['id']),
  cell(entry['provider']),
  cell(entry['mode'] ?? ''),
  cell(entry['max_input_tokens'] ?? ''),
  priceText(entry['input_cost_per_token']),
  priceText(entry['output_cost_per_token']),
];

async function listEntries(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const answer = await context.send('GET', '/model_catalog', {
    query: {
      provider: values.text('provider'),
      mode: values.text('mode'),
      model: values.text('search'),
      page: values.integer('page'),
      page_size: values.integer('page-size'),
    },
  });
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const page = jsonObjectOf(answer);
  const entries = itemsOf(page['data']).map(jsonObjectOf);
  if (entries.length === 0) return terminal.print('No models found.');
  const head = ['Model', 'Provider', 'Mode', 'Max Input', 'Input $/1M', 'Output $/1M'];
  terminal.print(table('Model Catalog', head, entries.map(rowOf)));
  terminal.print(`${entries.length} of ${cell(page['total_count'])} models, page ${cell(page['page'])}`);
}

/** Encodes a model name for a path. Slashes of the name are kept. */
const pathOf = (model: string): string => model.split('/').map(encodeURIComponent).join('/');

async function showEntry(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const answer = await context.send('GET', `/model_catalog/${pathOf(values.operand(0))}`);
  if (values.flag('json')) return terminal.print(jsonText(answer));
  const rows = Object.entries(jsonObjectOf(answer)).filter(([, value]) => value !== null);
  terminal.print(
    table(
      '',
      ['Member', 'Value'],
      rows.map(([name, value]) => [plain(name), cell(value)]),
    ),
  );
}

export const catalogCommands: readonly Command[] = [
  {
    names: ['catalog'],
    summary: 'List models of the catalog with prices, or show one. Needs no key',
    operands: ['model?'],
    options: {
      provider: { type: 'string', help: 'Only models of this provider' },
      mode: { type: 'string', help: 'Only models of this mode, such as chat' },
      search: { type: 'string', help: 'Only models whose name contains this text' },
      page: { type: 'string', help: 'Number of the page, from 1' },
      'page-size': { type: 'string', help: 'Models in a page, at most 500' },
      ...JSON_OUTPUT,
    },
    failures: 'line',
    run(context, values) {
      return values.operands.length === 0 ? listEntries(context, values) : showEntry(context, values);
    },
  },
];
