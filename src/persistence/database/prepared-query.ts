import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Placeholder of a value that each run provides. */
class GivenValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Placeholder of the value with this name. */
export type Placeholder<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

/**
 * A query that is compiled once, at its first run: compiling takes longer than SQLite needs to read a page of rows.
 * `build` must use `given(name)` for every value that differs between runs.
 */
export function preparedQuery<Values extends object, Row>(
  build: (db: Kysely<Tables>, given: Placeholder<Values>) => Compilable<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<readonly Row[]> {
  let compiled: CompiledQuery<Row> | null = null;
  return async (db, values) => {
    compiled ??= build(db, (name) => sql`${new GivenValue(name)}`).compile();
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof GivenValue ? values[parameter.name as keyof Values] : parameter,
    );
    return (await db.executeQuery<Row>({ ...compiled, parameters })).rows;
  };
}
