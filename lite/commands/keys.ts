import { type Command, FORMAT } from '../command.ts';
import type { Context } from '../context.ts';
import { cell, jsonText, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, type Values } from '../values.ts';
import { printAnswer } from './print-answer.ts';

/** Members of a request, without those that are null. */
export const withoutNulls = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

async function listKeys(context: Context, values: Values): Promise<void> {
  const answer = await context.send('GET', '/key/list', {
    query: {
      page: values.integer('page'),
      size: values.integer('size'),
      user_id: values.text('user-id'),
      team_id: values.text('team-id'),
      organization_id: values.text('organization-id'),
      key_hash: values.text('key-hash'),
      key_alias: values.text('key-alias'),
      return_full_object: !values.flag('no-return-full-object'),
      include_team_keys: values.flag('include-team-keys') ? true : null,
    },
  });
  const { terminal } = context.host;
  if (values.text('format') === 'json') return terminal.print(jsonText(answer));
  const page = jsonObjectOf(answer);
  const keys = itemsOf(page['keys']);
  terminal.print(`Showing ${keys.length} keys out of ${numberOrNull(page['total_count']) ?? keys.length}`);
  const rows = keys.map((item) => {
    // With `--no-return-full-object`, an item is the hash of a key.
    const key: JsonObject = typeof item === 'string' ? { token: item } : jsonObjectOf(item);
    const { token, key_alias, user_id, team_id, spend } = key;
    return [token, key_alias, user_id, team_id, spend].map(cell);
  });
  terminal.print(table('API Keys', ['Key Hash', 'Alias', 'User ID', 'Team ID', 'Spend'], rows));
}

async function generateKey(context: Context, values: Values): Promise<void> {
  const json = withoutNulls({
    models: values.list('models'),
    aliases: values.json('aliases'),
    spend: values.number('spend'),
    duration: values.text('duration'),
    key_alias: values.text('key-alias'),
    team_id: values.text('team-id'),
    user_id: values.text('user-id'),
    budget_id: values.text('budget-id'),
    config: values.json('config'),
  });
  await printAnswer(context, 'POST', '/key/generate', { json });
}

async function deleteKeys(context: Context, values: Values): Promise<void> {
  const json = { keys: values.list('keys'), key_aliases: values.list('key-aliases') };
  await printAnswer(context, 'POST', '/key/delete', { json });
}

export const keyCommands: readonly Command[] = [
  {
    names: ['keys', 'list'],
    summary: 'List API keys',
    failures: 'line',
    options: {
      page: { type: 'string', help: 'Number of the page, from 1' },
      size: { type: 'string', help: 'Keys in a page' },
      'user-id': { type: 'string', help: 'Only keys of this user' },
      'team-id': { type: 'string', help: 'Only keys of this team' },
      'organization-id': { type: 'string', help: 'Only keys of this organization' },
      'key-hash': { type: 'string', help: 'Only the key with this hash' },
      'key-alias': { type: 'string', help: 'Only the key with this alias' },
      'return-full-object': { type: 'boolean', help: 'Read whole keys, which is the default' },
      'no-return-full-object': { type: 'boolean', help: 'Read hashes of keys only' },
      'include-team-keys': { type: 'boolean', help: 'Include the keys of your teams' },
      ...FORMAT,
    },
    run: listKeys,
  },
  {
    names: ['keys', 'generate'],
    summary: 'Generate a new API key',
    options: {
      models: { type: 'string', help: 'Models, separated by commas' },
      aliases: { type: 'string', help: 'Model aliases, as a JSON object' },
      spend: { type: 'string', help: 'Spend so far, in USD' },
      duration: { type: 'string', help: 'Lifetime, such as 24h or 7d' },
      'key-alias': { type: 'string', help: 'Name of the key' },
      'team-id': { type: 'string', help: 'Team of the key' },
      'user-id': { type: 'string', help: 'User of the key' },
      'budget-id': { type: 'string', help: 'Budget of the key' },
      config: { type: 'string', help: 'Settings, as a JSON object' },
    },
    run: generateKey,
  },
  {
    names: ['keys', 'delete'],
    summary: 'Delete API keys by key or alias',
    options: {
      keys: { type: 'string', help: 'Keys, separated by commas' },
      'key-aliases': { type: 'string', help: 'Aliases, separated by commas' },
    },
    run: deleteKeys,
  },
];
