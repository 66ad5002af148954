import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Where a value goes into a query that is given with each run of it. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Stands in a query for the value of this name. */
export type Given<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

/**
 * A query whose text is made once, when it first runs: to build and compile it anew takes longer than SQLite needs for
 * a page. Every value that differs from run to run must come by `given`.
 */
export function madeOnce<Values extends object, Row>(
  build: (db: Kysely<Tables>, given: Given<Values>) => Compilable<Row>,
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
