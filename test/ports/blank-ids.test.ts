import { Migrator } from '@mikro-orm/migrations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, aSpan, aSpendRow, LONE_KEY, OTHER_TEAM_KEY, traceId } from './samples.ts';

/** The migration before the one that repairs blank ids. */
const PREVIOUS_MIGRATION = 'Migration20261122050000_trace_root';
/** Tables with a team id, and the column with the key of a row. */
const TABLES = [
  ['virtual_key', 'hash'],
  ['spend_row', 'key_hash'],
  ['upstream_object', 'key_hash'],
  ['trace_summary', 'key_hash'],
] as const;

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`rows with blank ids, on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.create();
    });
    afterEach(() => scratch.remove());

    it.each(['', '  ', '\t\n'])(
      'with %j are repaired by the migration; rows with other ids are unchanged',
      async (blank) => {
        const before = await scratch.open();
        const owners = [LONE_KEY, OTHER_TEAM_KEY];
        for (const owner of owners) {
          const { teamId, keyHash } = owner;
          const createdAt = new Date(0);
          await before.keys.add(aKey({ hash: keyHash, alias: keyHash, teamId, userId: teamId }));
          await before.spend.append([aSpendRow({ id: keyHash, keyHash, teamId, userId: teamId })]);
          await before.upstreamObjects.add({
            id: keyHash,
            kind: 'file',
            deploymentId: 'd',
            upstreamId: keyHash,
            owner,
            createdAt,
            purpose: null,
            shown: null,
          });
          await before.traces.ingest([{ owner, spans: [aSpan()] }]);
        }
        const { orm } = await scratch.openBare();
        const em = orm.em.fork();
        await new Migrator(orm.em).down({ to: PREVIOUS_MIGRATION });
        for (const [table, keyColumn] of TABLES)
          await em.execute(`update "${table}" set "team_id" = ? where "${keyColumn}" = ?`, [blank, LONE_KEY.keyHash]);
        for (const table of ['virtual_key', 'spend_row'])
          await em.execute(`update "${table}" set "user_id" = ? where "team_id" = ?`, [blank, blank]);
        await em.execute('update "virtual_key" set "alias" = ? where "team_id" = ?', [blank, blank]);

        // Opening the stores applies the later migrations again.
        const after = await scratch.open();
        const rows = async (table: string, columns: string): Promise<readonly unknown[]> =>
          await em.execute(`select ${columns} from "${table}" order by 1 desc`);
        const [loneKey, teamKey] = owners.map(({ keyHash }) => keyHash);
        const team = OTHER_TEAM_KEY.teamId;
        expect(await rows('virtual_key', 'hash, alias, team_id, user_id')).toEqual([
          { hash: loneKey, alias: null, team_id: null, user_id: null },
          { hash: teamKey, alias: teamKey, team_id: team, user_id: team },
        ]);
        expect(await rows('spend_row', 'key_hash, team_id, user_id')).toEqual([
          { key_hash: loneKey, team_id: null, user_id: null },
          { key_hash: teamKey, team_id: team, user_id: team },
        ]);
        for (const table of ['upstream_object', 'trace_summary'])
          expect(await rows(table, 'key_hash, team_id')).toEqual([
            { key_hash: loneKey, team_id: '' },
            { key_hash: teamKey, team_id: team },
          ]);

        const ofKey = { kind: 'key', keyHash: LONE_KEY.keyHash } as const;
        const page = { kind: 'file', purpose: null, after: null, limit: 10, oldestFirst: true } as const;
        expect((await after.upstreamObjects.list(ofKey, page)).map(({ owner }) => owner)).toEqual([LONE_KEY]);
        expect((await after.traces.findSummaries(ofKey, traceId(1), null)).map(({ owner }) => owner)).toEqual([
          LONE_KEY,
        ]);
        // A blank id matches no team.
        for (const teamId of ['', blank])
          expect([
            await after.upstreamObjects.list({ kind: 'team', teamId }, page),
            await after.traces.findSummaries({ kind: 'team', teamId }, traceId(1), null),
          ]).toEqual([[], []]);
      },
    );
  });
