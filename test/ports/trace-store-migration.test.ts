import { Migrator } from '@mikro-orm/migrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { START_MS, TEAM_KEY, aSpan, nsAt, picos, spanId, traceId } from './samples.ts';

/** The migration before the one that adds export bodies. */
const PREVIOUS_MIGRATION = 'Migration20261121040000_checkout';
const REF = traceRefOf(TEAM_KEY, traceId(1));
const unusualText = 'it\'s "quoted" \\ \n\u{1F600}';
const SPAN = aSpan({
  parentSpanId: spanId(9),
  error: unusualText,
  cost: picos(7n),
  // Old rows have no provider. A cost shows that the gateway made the call.
  provider: null,
  gateway: true,
  input: unusualText,
  output: '',
  attributes: { zeta: unusualText, alpha: '\0' },
  resourceAttributes: { 'service.name': 'tests' },
  events: [{ name: unusualText, timeNs: nsAt(START_MS), attributes: { a: 'b' } }],
  links: [{ traceId: traceId(2), spanId: spanId(2), attributes: {} }],
});
/** A time in the old schema: a text of 20 digits. */
const oldNs = (ns: bigint): string => ns.toString().padStart(20, '0');

/** Stores a span and its trace in the old schema. */
async function storeOldSpan({ orm }: Database): Promise<void> {
  const db = orm.em.fork().getKysely<never>();
  const { name, kind, type, agent, service, status, error, model } = SPAN;
  const [start, end] = [oldNs(SPAN.startNs), oldNs(SPAN.endNs)];
  await sql`insert into trace_summary values (${traceId(1)}, ${REF}, ${TEAM_KEY.teamId}, ${TEAM_KEY.keyHash}, ${name},
    ${service}, ${'hello'}, ${start}, ${end}, ${START_MS}, ${status}, 1, ${'[]'}, 0, 1, 0, 0, 3, 5, ${'["demo"]'}, 7, 1)
  `.execute(db);
  await sql`insert into span values (${traceId(1)}, ${REF}, ${spanId(1)}, ${spanId(9)}, ${name}, ${kind}, ${type},
    ${agent}, ${service}, ${start}, ${end}, ${status}, ${error}, ${model}, 3, 5, ${'hello'}, null, 7)
  `.execute(db);
  const events = SPAN.events.map(({ timeNs, ...event }) => ({ ...event, timeNs: timeNs.toString() }));
  await sql`insert into span_payload values (${traceId(1)}, ${REF}, ${spanId(1)}, ${SPAN.input}, ${SPAN.output},
    ${JSON.stringify(SPAN.attributes)}, ${JSON.stringify(SPAN.resourceAttributes)}, ${JSON.stringify(events)},
    ${JSON.stringify(SPAN.links)})
  `.execute(db);
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`traces in the schema before export bodies, on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.createEmpty();
    });
    afterEach(() => scratch.remove());

    it('exist after the migration, complete, and accept further spans', async () => {
      const database = await scratch.openBare();
      await new Migrator(database.orm.em).up({ to: PREVIOUS_MIGRATION });
      await storeOldSpan(database);
      const { traces } = await scratch.open();
      expect(await traces.findSpan([{ traceId: traceId(1), traceRef: REF }], spanId(1))).toEqual(SPAN);
      const [grown] = await traces.ingest([{ owner: TEAM_KEY, spans: [SPAN, aSpan({ spanId: spanId(2) })] }]);
      expect([grown?.spanCount, grown?.startNs, grown?.endNs]).toEqual([2, SPAN.startNs, SPAN.endNs]);
    });

    it('exist again after the migration down', async () => {
      const database = await scratch.openBare();
      const migrator = new Migrator(database.orm.em);
      await migrator.up({ to: PREVIOUS_MIGRATION });
      await storeOldSpan(database);
      const rows = async (): Promise<unknown> => {
        const db = database.orm.em.fork().getKysely<never>();
        const columns = sql`s.trace_id, s.trace_ref, s.span_id, s.start_ns, s.end_ns, s.cost, p.input, p.events`;
        return (await sql`select ${columns} from span s join span_payload p on p.span_id = s.span_id`.execute(db)).rows;
      };
      const before = await rows();
      await migrator.up();
      await migrator.down({ to: PREVIOUS_MIGRATION });
      expect(await rows()).toEqual(before);
    });
  });
