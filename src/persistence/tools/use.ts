import { type Kysely, sql } from 'kysely';
import { clampUsd } from '../../domain/money.ts';
import { storable, storableOrNull } from '../../domain/storable.ts';
import { DEFAULT_POLICIES, MAX_TOOLS, MAX_TOOLS_OF_KEY } from '../../domain/tools/tool.ts';
import type {
  ToolCallEntry,
  ToolDay,
  ToolSighting,
  ToolSpend,
  ToolSum,
  ToolUseBatch,
  ToolUseStore,
} from '../../domain/tools/tool-use.ts';
import type { Database } from '../database/database.ts';
import { encodeRow, type EncodedRow, insertionInto, rowTable, statementBatches, textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { recordIfNew } from '../gateway-activity/batches.ts';
import { ToolCallEntity, ToolDayEntity } from './entities.ts';

const DAY_MS = 86_400_000;

/** Author of a tool that was discovered. */
const SYSTEM = 'system';

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
const inOrder = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] =>
  rows.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));

/** Use of tools: the registry, sums by day, and the requests that called a tool. A batch is one transaction. */
export function createToolUseStore({ orm, flavour, find, readRows, transact }: Database): ToolUseStore {
  const toolTable = rowTable(orm, 'tool');
  const dayTable = rowTable(orm, 'tool_day');
  const callTable = rowTable(orm, 'tool_call');
  // A change of a policy compares the revision, which calls leave unchanged.
  const insertTools = insertionInto(
    flavour,
    toolTable,
    sql`on conflict (name) do update set call_count = tool.call_count + excluded.call_count, last_used_at = excluded.last_used_at`,
  );
  const insertDays = insertionInto(
    flavour,
    dayTable,
    sql`on conflict (day, name) do update set calls = tool_day.calls + excluded.calls, cost = tool_day.cost + excluded.cost, tokens = tool_day.tokens + excluded.tokens`,
  );
  const insertCalls = insertionInto(flavour, callTable, sql`on conflict (id) do nothing`);
  /** A time as the columns of managed entities have it. */
  const timeOf = (time: Date): string | number => (flavour === 'postgresql' ? time.toISOString() : time.getTime());

  const encodeTool = (seen: ToolSighting): EncodedRow =>
    encodeRow(toolTable, {
      // The name is unique, and the id never changes.
      id: storable(seen.id),
      name: storable(seen.name),
      origin: storable(seen.origin),
      input_policy: DEFAULT_POLICIES.inputPolicy,
      output_policy: DEFAULT_POLICIES.outputPolicy,
      call_count: seen.calls,
      key_hash: seen.keyHash,
      key_alias: storableOrNull(seen.keyAlias),
      team_id: storableOrNull(seen.teamId),
      user_agent: storableOrNull(seen.userAgent),
      last_used_at: timeOf(seen.lastAt),
      created_at: timeOf(seen.firstAt),
      created_by: SYSTEM,
      updated_at: timeOf(seen.firstAt),
      updated_by: SYSTEM,
      revision: 1,
    });

  /** The names of a batch that have a row, or for which there is room: among all tools, and among those of the key. */
  async function admittedNames(db: Kysely<Tables>, tools: readonly ToolSighting[]): Promise<ReadonlySet<string>> {
    const names = tools.map(({ name }) => storable(name));
    const known = await db.selectFrom('tool').select('name').where('name', 'in', textsIn(flavour, names)).execute();
    const admitted = new Set(known.map(({ name }) => name));
    if (names.every((name) => admitted.has(name))) return admitted;
    const counts = await db
      .selectFrom('tool')
      .select(({ fn }) => ['key_hash', fn.countAll<number | string>().as('count')])
      .groupBy('key_hash')
      .execute();
    const byKey = new Map(counts.map(({ key_hash: hash, count }) => [hash, Number(count)]));
    let total = [...byKey.values()].reduce((sum, count) => sum + count, 0);
    for (const tool of tools) {
      const name = storable(tool.name);
      const ofKey = byKey.get(tool.keyHash) ?? 0;
      if (admitted.has(name) || total >= MAX_TOOLS || ofKey >= MAX_TOOLS_OF_KEY) continue;
      admitted.add(name);
      byKey.set(tool.keyHash, ofKey + 1);
      total += 1;
    }
    return admitted;
  }

  async function addRows(db: Kysely<Tables>, { tools, days, calls }: ToolUseBatch): Promise<void> {
    const admitted = await admittedNames(db, tools);
    const isAdmitted = ({ name }: { readonly name: string }): boolean => admitted.has(storable(name));
    // In the order of their keys, so that two processes lock rows in one order.
    const sortedTools = inOrder(tools.filter(isAdmitted), ({ name }) => name);
    for (const rows of statementBatches(sortedTools.map(encodeTool))) await insertTools(db, rows);
    const sortedDays = inOrder(days.filter(isAdmitted), ({ day, name }) => `${day} ${name}`);
    for (const rows of statementBatches(sortedDays.map(encodeDay))) await insertDays(db, rows);
    for (const rows of statementBatches(calls.filter(isAdmitted).map(encodeCall))) await insertCalls(db, rows);
  }

  const encodeDay = ({ day, name, calls, cost, tokens }: ToolDay): EncodedRow =>
    encodeRow(dayTable, { day, name: storable(name), calls, cost: cost.toString(), tokens });
  const encodeCall = ({ id, name, requestId, at, model, cost, tokens }: ToolCallEntry): EncodedRow =>
    encodeRow(callTable, {
      id: storable(id),
      name: storable(name),
      request_id: storable(requestId),
      at: at.getTime(),
      model: storable(model),
      cost: cost === null ? null : cost.toString(),
      tokens,
    });

  async function removeBefore(db: Kysely<Tables>, time: Date): Promise<void> {
    await db.deleteFrom('tool_call').where('at', '<', time.getTime()).execute();
    await db.deleteFrom('tool_day').where('day', '<', dayOf(time)).execute();
    const before = flavour === 'postgresql' ? sql`cast(${time.toISOString()} as timestamptz)` : sql`${time.getTime()}`;
    await sql`
      delete from tool
      where input_policy = 'untrusted' and output_policy = 'untrusted' and last_used_at < ${before}
        and not exists (select 1 from tool_override where tool_override.tool_name = tool.name)
    `.execute(db);
  }

  async function sums(from: string, to: string, limit: number): Promise<readonly ToolSum[]> {
    const rows = await readRows((db) =>
      sql<{ name: string; calls: number | string; cost: string; tokens: number | string }>`
        select name, cast(sum(calls) as text) as calls, cast(sum(cost) as text) as cost, cast(sum(tokens) as text) as tokens
        from tool_day where day >= ${storable(from)} and day <= ${storable(to)}
        group by name order by sum(cost) desc, name limit ${limit}
      `.execute(db),
    );
    return rows.rows.map(({ name, calls, cost, tokens }) => ({
      name,
      calls: Number(calls),
      cost: clampUsd(BigInt(cost)),
      tokens: Number(tokens),
    }));
  }

  return {
    add: (batch, now, keptFrom) =>
      transact(async (db) => {
        if (!(await recordIfNew(db, { process: batch.process, number: batch.number, now }))) return;
        await addRows(db, batch);
        await removeBefore(db, keptFrom);
      }),
    async spend({ from, to }, limit): Promise<ToolSpend> {
      const tools = await sums(from, to, limit);
      const days = await find(async (em) => {
        const where = {
          day: { $gte: storable(from), $lte: storable(to) },
          name: { $in: tools.map(({ name }) => name) },
        };
        const found = tools.length === 0 ? [] : await em.find(ToolDayEntity, where, { orderBy: { day: 'asc' } });
        return found.map(({ day, name, calls, cost, tokens }): ToolDay => ({
          day,
          name,
          calls,
          cost: clampUsd(BigInt(cost)),
          tokens,
        }));
      });
      const byCost = (left: ToolDay, right: ToolDay): number =>
        Number(right.cost > left.cost) - Number(right.cost < left.cost);
      const sorted = days.toSorted(
        (left, right) => left.day.localeCompare(right.day) || byCost(left, right) || (left.name < right.name ? -1 : 1),
      );
      return { tools, days: sorted };
    },
    calls: ({ name, from, to, limit, offset }) =>
      find(async (em) => {
        const at = {
          ...(from === null ? {} : { $gte: Date.parse(`${from}T00:00:00Z`) }),
          ...(to === null ? {} : { $lt: Date.parse(`${to}T00:00:00Z`) + DAY_MS }),
        };
        const where = { name: storable(name), ...(from === null && to === null ? {} : { at }) };
        const options = { orderBy: { at: 'desc', id: 'desc' }, limit, offset } as const;
        const [found, totalCount] = await em.findAndCount(ToolCallEntity, where, options);
        const calls = found.map((row) => ({
          id: row.id,
          name: row.name,
          requestId: row.requestId,
          at: new Date(row.at),
          model: row.model,
          cost: row.cost === null || row.cost === undefined ? null : clampUsd(BigInt(row.cost)),
          tokens: row.tokens,
        }));
        return { calls, totalCount };
      }),
  };
}
