import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
import type { ClickHouse } from './client.ts';
import { listOf, type DeletionMode } from './statements.ts';
import { inBatches } from './trace-lookup.ts';
import { readerOf } from '../traces/bodies.ts';
import { BODY_COLUMNS } from './trace-tables.ts';

/** A body without its bytes. */
interface BodyRow {
  readonly body_id: string;
  /** Ids of the traces with payloads in the body. */
  readonly trace_ids: readonly string[];
}

interface WholeRow extends BodyRow {
  readonly arrived: string;
  readonly version: string;
  readonly format: ExportBody['format'];
  readonly compression: ExportBody['compression'];
  readonly base64: string;
}

/**
 * Releases bodies from removed traces: removes the payloads of such a trace when none of its spans refers to the body.
 * Deletes a body without traces. A trace that is not removed keeps its payloads, even without spans: another process
 * possibly has not stored the spans of its export yet. The caller is inside the body mutex. Otherwise two processes
 * could change the same version, and the later write would restore the trace that the earlier write removed.
 */
export function createBodyRelease(server: ClickHouse, bodies: BodyReader | undefined) {
  /** The traces that still have spans in these bodies, by body. */
  async function holdersOf(rows: readonly BodyRow[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const ids = new Set(rows.map(({ body_id: id }) => id));
    const found = await inBatches(
      rows.flatMap(({ trace_ids: traceIds }) => traceIds),
      (traceIds) =>
        server.rows<{ trace_id: string; body_id: string }>(
          `select distinct trace_id, body_id from span final where trace_id in {traceIds:Array(String)} and body_id != ''`,
          { traceIds },
        ),
    );
    const holders = new Map<string, Set<string>>([...ids].map((id) => [id, new Set<string>()]));
    for (const { trace_id: traceId, body_id: id } of found) holders.get(id)?.add(traceId);
    return holders;
  }

  /** Deletes rows by a condition: whole bodies, or old versions of a body. */
  async function drop(condition: string, how: DeletionMode): Promise<void> {
    await server.run(
      how === 'masked'
        ? `delete from export_body where ${condition}`
        : `alter table export_body delete where ${condition} settings mutations_sync = 1`,
    );
  }

  async function rewrite(bodyId: string, isReleased: (traceId: string) => boolean, how: DeletionMode): Promise<void> {
    const [row] = await server.rows<WholeRow>(
      `select body_id, arrived, version, trace_ids, format, compression, base64Encode(bytes) as base64
       from export_body final where body_id = {id:String}`,
      { id: bodyId },
    );
    if (row === undefined) return;
    const released = row.trace_ids.filter(isReleased);
    const remaining = row.trace_ids.filter((traceId) => !isReleased(traceId));
    const body = { format: row.format, compression: row.compression, bytes: Buffer.from(row.base64, 'base64') };
    const { format, compression, bytes } = await readerOf(bodies).without(body, released);
    const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    // The time distinguishes versions that two processes create from the same earlier version, to the millisecond.
    const version = Math.max(Number(row.version) + 1, Date.now() * 1_000);
    await server.insert('export_body', BODY_COLUMNS, [
      JSON.stringify([bodyId, row.arrived, version, remaining, format, compression, base64]),
    ]);
    await drop(`body_id in ${listOf([bodyId])} and version < ${version}`, how);
  }

  return async function release(
    bodyIds: readonly string[],
    removed: ReadonlySet<string>,
    how: DeletionMode,
  ): Promise<void> {
    const rows = await inBatches(bodyIds, (ids) =>
      server.rows<BodyRow>('select body_id, trace_ids from export_body final where body_id in {ids:Array(String)}', {
        ids,
      }),
    );
    if (rows.length === 0) return;
    const holders = await holdersOf(rows);
    const isReleasedIn = (bodyId: string) => (traceId: string) =>
      removed.has(traceId) && !holders.get(bodyId)?.has(traceId);
    const toDelete: string[] = [];
    const toRewrite: string[] = [];
    for (const { body_id: id, trace_ids: traceIds } of rows) {
      if (traceIds.every(isReleasedIn(id))) toDelete.push(id);
      else if (traceIds.some(isReleasedIn(id))) toRewrite.push(id);
    }
    for (const id of toRewrite) await rewrite(id, isReleasedIn(id), how);
    await inBatches(toDelete, async (ids) => {
      await drop(`body_id in ${listOf(ids)}`, how);
      return [];
    });
    // The mutex does not exclude a process with another database, which may have written one of these bodies meanwhile.
    // Each pass shortens lists of traces, so the recursion ends.
    if (toRewrite.length > 0) await release(toRewrite, removed, how);
  };
}
