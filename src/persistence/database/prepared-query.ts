import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Placeholder of a value that each run provides. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Placeholder of the value with this name. */
export type Placeholder<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

/**
 * A query that is compiled once, at its first run: compiling takes longer than SQLite needs for a page. Every value
 * that differs between runs must be a `given`.
 */
export function preparedQuery<Values extends object, Row>(
  build: (db: Kysely<Tables>, given: Placeholder<Values>) => Compilable<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<readonly Row[]> {
  let made: CompiledQuery<Row> | null = null;
  return async (db, values) => {
    made ??= build(db, (name) => sql`${new Place(name)}`).compile();
    const parameters = made.parameters.map((parameter) =>
      parameter instanceof Place ? values[parameter.name as keyof Values] : parameter,
    );
    return (await db.executeQuery<Row>({ ...made, parameters })).rows;
  };
}
