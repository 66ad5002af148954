import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageFailure } from '../failure.ts';
import { jsonText, plain } from '../terminal/table.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { numberOrNull, type Values } from '../values.ts';

/** Deadline of the migration, in ms. It encrypts every stored secret again. */
const MIGRATION_MS = 600_000;
const PATH = '/credentials/migrate-encryption';

async function migrate(context: Context, values: Values): Promise<void> {
  const [isCheck, isDry] = [values.flag('check'), values.flag('dry-run')];
  if (isCheck && isDry) throw new UsageFailure('Pass only one of --check and --dry-run');
  const { terminal } = context.host;
  const answer = isCheck
    ? await context.send('GET', `${PATH}/check`)
    : await context.send('POST', PATH, { query: { dry_run: isDry || null }, deadlineMs: MIGRATION_MS });
  terminal.print(jsonText(answer));
  const left = numberOrNull(jsonObjectOf(answer)['residual_legacy']);
  if (left !== null) terminal.note(plain(`residual_legacy: ${left} secrets have the former encryption.`));
}

export const encryptionCommands: readonly Command[] = [
  {
    names: ['encryption', 'migrate'],
    summary: 'Encrypt stored secrets again, on servers of LiteLLM',
    options: {
      check: { type: 'boolean', help: 'Only count secrets with the former encryption' },
      'dry-run': { type: 'boolean', help: 'Show what would change, without changes' },
    },
    run: migrate,
  },
];
