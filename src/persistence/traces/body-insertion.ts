import { CompiledQuery, type Kysely } from 'kysely';
import type { ExportBody } from '../../domain/traces/packed.ts';
import type { SqlFlavour } from '../database/database.ts';
import { insertOrRollback, splitIntoBatches } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

/** A body, the number of spans whose payload it contains, and its span block (`heads`). */
export interface HeldBody {
  readonly body: ExportBody;
  readonly heldBy: number;
  readonly heads: Uint8Array | null;
}

/** Stores bodies. Resolves to their row numbers, in the order of the bodies. */
export type BodyWriter = (db: Kysely<Tables>, held: readonly HeldBody[]) => Promise<readonly string[]>;

/** Maximum number of bodies in one statement: few, so that each statement text stays prepared. */
const STATEMENT_BODIES = 16;
const VALUES = ['format', 'compression', 'held_by', 'bytes', 'heads'] as const;

const bytesOf = ({ body, heads }: HeldBody): number => body.bytes.length + (heads?.length ?? 0);

/** Writes the bodies of a commit together. The statement text for each number of bodies is built once. */
export function createBodyWriter(flavour: SqlFlavour): BodyWriter {
  const texts = new Map<number, string>();

  function textFor(bodies: number): string {
    const parameter = (at: number): string => (flavour === 'postgresql' ? `$${at + 1}` : '?');
    const rows = Array.from({ length: bodies }, (_row, row) => {
      const parameters = VALUES.map((_name, column) => parameter(row * VALUES.length + column));
      return `(${parameters.join(', ')})`;
    });
    return `${insertOrRollback(flavour)} into export_body (${VALUES.join(', ')}) values ${rows.join(', ')}
      returning cast(body_no as text) as body_no`;
  }

  return async (db, held) => {
    const numbers: string[] = [];
    for (const batch of splitIntoBatches(held, bytesOf, STATEMENT_BODIES)) {
      const text = texts.get(batch.length) ?? textFor(batch.length);
      texts.set(batch.length, text);
      const values = batch.flatMap(({ body: { format, compression, bytes }, heldBy, heads }) => [
        format,
        compression,
        heldBy,
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        heads,
      ]);
      const { rows } = await db.executeQuery<{ body_no: string }>(CompiledQuery.raw(text, values));
      if (rows.length !== batch.length) throw new Error('The database did not return a number for each body.');
      // Numbers increase in the order of the rows; no engine guarantees the order of `returning`.
      numbers.push(...rows.map((row) => row.body_no).toSorted((left, right) => Number(left) - Number(right)));
    }
    return numbers;
  };
}
