import { CompiledQuery, type Kysely } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import { BOUNDARIES } from '../../domain/traces/estimates.ts';
import type { SqlFlavour } from '../database/database.ts';
import { numbersIn, statementBatches } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { type CountRow, countColumns, countOf } from '../traces/call-counts.ts';
import type { CallNotes, Note, NoteKind, NoteName, SpanOrAnswer, VisitedAncestor } from './count-added.ts';

// SQL of the notes on calls. `count-added.ts` describes the kinds of notes and the queries.

/** Kind of the row that marks a trace with notes. */
const TRACE_MARK = 0;
const KINDS: Readonly<Record<NoteKind, number>> = {
  'above call': 1,
  'above any call': 2,
  answered: 3,
  estimated: 4,
  unestimated: 5,
  'above usage': 6,
};
const KIND_OF = new Map(Object.entries(KINDS).map(([kind, number]) => [number, kind as NoteKind]));

type AncestorRow = NoteRow & (CountRow | { readonly span_id: null }) & { readonly answered: number | null };

interface NoteRow {
  readonly trace: string;
  readonly kind: number;
  readonly name: string;
}

function nameOf({ trace, kind, name }: NoteRow): NoteName {
  const known = KIND_OF.get(kind);
  if (known === undefined) throw new Error(`Unknown kind of call note: ${kind}.`);
  return { trace, kind: known, name };
}

const visitedAncestorOf = (row: AncestorRow): VisitedAncestor => ({
  trace: row.trace,
  kind: KIND_OF.get(row.kind) as VisitedAncestor['kind'],
  name: row.name,
  span: row.span_id === null ? null : countOf(row),
  answered: row.answered !== null,
});

/**
 * The statements. Their only parameter is a JSON list of rows; `rowsFrom` explains why. `given` is this list as a
 * relation.
 */
function textsFor(flavour: SqlFlavour) {
  const list = flavour === 'postgresql' ? 'jsonb_array_elements($1::jsonb)' : 'jsonb_each(?)';
  const number = (at: number, type: 'bigint' | 'integer'): string =>
    flavour === 'postgresql' ? `cast(value ->> ${at} as ${type})` : `value ->> ${at}`;
  const given = `given as (select ${number(0, 'bigint')} as trace_no, ${number(1, 'integer')} as kind, value ->> 2 as name,
    value ->> 3 as span_id from ${list})`;
  // Joins start at the parameter. In SQLite `cross join` fixes this order. In PostgreSQL `offset 0`, and `limit` in
  // existence checks, prevent hash joins of whole tables.
  const spans = (where: string, join: 'cross' | 'left' = 'cross'): string =>
    flavour === 'postgresql'
      ? `${join} join lateral (select s.* from span s where ${where} offset 0) s ${join === 'left' ? 'on true' : ''}`
      : `${join} join span s on ${where}`;
  const boundaries = BOUNDARIES.map((type) => `'${type}'`).join(', ');
  const noted = 'n.trace_no = g.trace_no and n.kind = g.kind and n.name = g.name';
  const isNoted = `(select 1 from call_note n where ${noted} limit 1)`;
  const isAnswered = `(select 1 from call_note n
    where n.trace_no = g.trace_no and n.kind = ${KINDS.answered} and n.name = s.request_id limit 1)`;
  const note = 'cast(g.trace_no as text) as trace, g.kind, g.name';
  const span = Object.entries(countColumns('s'))
    .map(([name, text]) => `${text} as ${name}`)
    .join(', ');
  return {
    among: `with ${given} select ${note} from given g where ${isNoted} is not null`,
    visitAncestors: `with recursive ${given}, visited (trace_no, kind, name) as (
        select trace_no, kind, name from given
        union
        select g.trace_no, g.kind, s.parent_span_id
        from visited g ${spans('s.trace_no = g.trace_no and s.span_id = g.name')}
        where s.type not in (${boundaries}) and s.parent_span_id <> s.span_id and ${isNoted} is null
      )
      select ${note}, ${span}, ${isAnswered} as answered
      from visited g ${spans('s.trace_no = g.trace_no and s.span_id = g.name', 'left')}
      where ${isNoted} is null`,
    naming: `with ${given} select ${note}, ${span}
      from given g ${flavour === 'postgresql' ? 'join' : 'cross join'} call_note n on ${noted}
      ${spans('s.trace_no = n.trace_no and s.span_id = n.span_id')}`,
    firstEstimates: `with ${given} select ${note}, cast(s.estimate as text) as estimate
      from (select g.*, (select min(n.span_id) from call_note n where ${noted}) as first_id from given g) g
      ${spans('s.trace_no = g.trace_no and s.span_id = g.first_id')}`,
    remove: `with ${given} delete from call_note where (trace_no, kind, name, span_id) in
      (select trace_no, kind, name, span_id from given)`,
    insert: `with ${given} insert into call_note (trace_no, kind, name, span_id)
      select trace_no, kind, name, span_id from given where true on conflict do nothing`,
  };
}

/** The notes of a database. */
interface StoredCallNotes extends CallNotes {
  /** The traces among these that have notes. */
  withNotes(traces: readonly string[]): Promise<ReadonlySet<string>>;
  /** Marks these traces as traces with notes. */
  markNoted(traces: readonly string[]): Promise<void>;
}

/** A row of the parameter. `name` is a span id or the id of an answer; empty for the mark of a trace. */
const parameterRow = (trace: string, kind: number, name: string, spanId = ''): string =>
  `[${trace},${kind},${JSON.stringify(name)},${JSON.stringify(spanId)}]`;

const namesOfKinds = (names: readonly SpanOrAnswer[], ...kinds: readonly NoteKind[]): readonly string[] =>
  names.flatMap(({ trace, name }) => kinds.map((kind) => parameterRow(trace, KINDS[kind], name)));

const givenNote = ({ trace, kind, name, spanId }: Note): string => parameterRow(trace, KINDS[kind], name, spanId);

/** The notes on calls, for one transaction. */
export function createCallNotes(flavour: SqlFlavour): (db: Kysely<Tables>) => StoredCallNotes {
  const texts = textsFor(flavour);
  return (db) => {
    async function rows<Row>(text: string, parameterRows: readonly string[]): Promise<readonly Row[]> {
      const found: Row[] = [];
      for (const batch of statementBatches(parameterRows))
        found.push(...(await db.executeQuery<Row>(CompiledQuery.raw(text, [`[${batch.join(',')}]`]))).rows);
      return found;
    }
    return {
      async among(spans, answers) {
        const parameterRows = [
          ...namesOfKinds(spans, 'above call', 'above any call', 'above usage'),
          ...namesOfKinds(answers, 'answered'),
        ];
        return (await rows<NoteRow>(texts.among, parameterRows)).map(nameOf);
      },
      async visitAncestors(from) {
        const starts = new Set(from.map(({ trace, kind, name }) => parameterRow(trace, KINDS[kind], name)));
        const found = await rows<AncestorRow>(texts.visitAncestors, [...starts]);
        // Traversals of several statements may reach the same span.
        const byName = new Map(found.map((row) => [`${row.trace} ${row.kind} ${row.name}`, visitedAncestorOf(row)]));
        return [...byName.values()];
      },
      async naming(answers) {
        const found = await rows<NoteRow & CountRow>(texts.naming, namesOfKinds(answers, 'estimated', 'unestimated'));
        return found.map((row) => ({ ...nameOf(row), spanId: row.span_id, span: countOf(row) }));
      },
      async firstEstimates(answers) {
        const found = await rows<NoteRow & { readonly estimate: string }>(
          texts.firstEstimates,
          namesOfKinds(answers, 'estimated'),
        );
        return found.map((row) => ({ ...nameOf(row), estimate: BigInt(row.estimate) as Usd }));
      },
      async change(removed, added) {
        await rows(texts.remove, removed.map(givenNote));
        await rows(texts.insert, added.map(givenNote));
      },
      async withNotes(traces) {
        const parameterRows = traces.map((trace) => parameterRow(trace, TRACE_MARK, ''));
        return new Set((await rows<NoteRow>(texts.among, parameterRows)).map(({ trace }) => trace));
      },
      async markNoted(traces) {
        await rows(
          texts.insert,
          traces.map((trace) => parameterRow(trace, TRACE_MARK, '')),
        );
      },
    };
  };
}

/** Deletes the notes of these traces. */
export async function removeNotes(db: Kysely<Tables>, flavour: SqlFlavour, traces: readonly string[]): Promise<void> {
  await db.deleteFrom('call_note').where('trace_no', 'in', numbersIn(flavour, traces)).execute();
}
