import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { checkedKey } from '../context.ts';
import { Ended, textOf, UsageFailure } from '../failure.ts';
import { checkedBaseUrl } from '../server/base-url.ts';
import { type Client, createClient } from '../server/client.ts';
import { cell, plain, table } from '../terminal/table.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, numberOrNull, textOrNull, type Values } from '../values.ts';
import { timeText } from './models.ts';

/** Members that a copied key takes over. */
const COPIED = ['models', 'aliases', 'spend', 'key_alias', 'team_id', 'user_id', 'budget_id', 'config'] as const;
const PAGE_SIZE = 100;
/** Most pages that are read. A faulty server could list without end. */
const MOST_PAGES = 10_000;

/** Members of a copy of a key. Empty ones are left out. */
function membersOfCopy(key: JsonObject): JsonObject {
  const isEmpty = (value: unknown): boolean =>
    !value || (isJsonObject(value) && Object.keys(value).length === 0) || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(COPIED.flatMap((name) => (isEmpty(key[name]) ? [] : [[name, key[name]]])));
}

/** Parses the option `--created-since`, UTC. Throws UsageFailure. */
export function sinceOf(text: string): Date {
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:_(\d{2}:\d{2}))?$/.exec(text) ?? [];
  const date = new Date(`${day}T${time}:00Z`);
  // `Date` replaces a day that does not exist, such as February 30, by another day.
  if (day === undefined || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(day))
    throw new UsageFailure(`Invalid value for '--created-since': '${text}' is not YYYY-MM-DD or YYYY-MM-DD_HH:MM.`);
  return date;
}

async function readKeys(source: Client, print: (line: string) => void): Promise<readonly JsonObject[]> {
  const keys: JsonObject[] = [];
  print(`Fetching keys from source server: ${source.baseUrl}`);
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const query = { page, size: PAGE_SIZE, return_full_object: true };
    const answer = jsonObjectOf(await source.send('GET', '/key/list', { query }));
    const found = itemsOf(answer['keys']).map(jsonObjectOf);
    if (found.length === 0) break;
    keys.push(...found);
    print(`Fetched page ${page}: ${found.length} keys`);
    if (page >= (numberOrNull(answer['total_pages']) ?? 1)) break;
  }
  return keys;
}

async function importKeys(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const sinceText = values.text('created-since');
  const since = sinceText === null ? null : sinceOf(sinceText);
  const sourceUrl = checkedBaseUrl(values.text('source-base-url') ?? '', '--source-base-url');
  const all = await readKeys(createClient(sourceUrl, checkedKey(values.text('source-api-key'))), terminal.print);
  if (all.length === 0) return terminal.print('No keys found in source instance.');
  const keys = since === null ? all : all.filter((key) => new Date(textOrNull(key['created_at']) ?? '') >= since);
  if (since !== null) terminal.print(`Filtered ${all.length} keys to ${keys.length} keys created since ${sinceText}`);
  terminal.print(`Found ${keys.length} keys in source instance.`);
  if (values.flag('dry-run')) return printPlan(context, keys);
  const failed = await copyKeys(context, keys);
  terminal.print('\nImport completed:');
  terminal.print(`  Successfully imported: ${keys.length - failed}`);
  terminal.print(`  Failed to import: ${failed}`);
  terminal.print(`  Total keys processed: ${keys.length}`);
  if (failed > 0) throw new Ended(1);
}

function printPlan({ host: { terminal } }: Context, keys: readonly JsonObject[]): void {
  terminal.print('\n--- DRY RUN MODE ---');
  const rows = keys.map((key) => [cell(key['key_alias']), cell(key['user_id']), timeText(key['created_at'])]);
  terminal.print(table('Keys that would be imported', ['Key Alias', 'User ID', 'Created'], rows));
}

/** Creates the copies. Prints their secrets, because no later request can read them. Returns the number of failures. */
async function copyKeys(context: Context, keys: readonly JsonObject[]): Promise<number> {
  const { terminal } = context.host;
  const client = await context.client();
  let failed = 0;
  for (const key of keys) {
    const name = plain(textOrNull(key['key_alias']) ?? 'N/A');
    try {
      const created = jsonObjectOf(await client.send('POST', '/key/generate', { json: membersOfCopy(key) }));
      terminal.print(`Imported key: ${name} = ${textOrNull(created['key']) ?? ''}`);
    } catch (error) {
      failed += 1;
      terminal.note(`Failed to import key ${name}: ${plain(textOf(error))}`);
    }
  }
  return failed;
}

export const keyImportCommands: readonly Command[] = [
  {
    names: ['keys', 'import'],
    summary: 'Copy the keys of another server, with new secrets',
    options: {
      'source-base-url': { type: 'string', required: true, help: 'Base URL of the other server' },
      'source-api-key': { type: 'string', help: 'API key of the other server' },
      'dry-run': { type: 'boolean', help: 'Show what would be imported, without changes' },
      'created-since': { type: 'string', help: 'Only keys created since YYYY-MM-DD or YYYY-MM-DD_HH:MM, UTC' },
    },
    run: importKeys,
  },
];
