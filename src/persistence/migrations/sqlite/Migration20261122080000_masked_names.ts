import { createHash } from 'node:crypto';
import { Migration } from '@mikro-orm/migrations';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Characters that a key may consist of. */
const CHARACTERS = Array.from({ length: 0x7e - 0x21 + 1 }, (_, position) => String.fromCodePoint(0x21 + position));

/**
 * Texts that may precede the last four characters of a key of at most eight: `sk-`, its first characters, or `sk-` and
 * one more character.
 */
const BEGINNINGS = ['', 's', 'sk', 'sk-', ...CHARACTERS.map((character) => `sk-${character}`)];

/**
 * Names of keys with fewer than nine characters showed the whole key, or all but one of its characters. They show
 * nothing now.
 */
export class Migration20261122080000_masked_names extends Migration {
  override async up(): Promise<void> {
    const rows = await this.execute('select "hash", "secret_hash", "name" from "virtual_key"');
    for (const row of rows as unknown as readonly Record<'hash' | 'secret_hash' | 'name', string>[]) {
      const shown = row.name.replace(/^sk-\.\.\./, '');
      if (shown !== '' && BEGINNINGS.some((beginning) => sha256(beginning + shown) === row.secret_hash))
        this.addSql(`update "virtual_key" set "name" = 'sk-...' where "hash" = '${row.hash}'`);
    }
  }

  /** What was masked stays masked. */
  override down(): void {}
}
