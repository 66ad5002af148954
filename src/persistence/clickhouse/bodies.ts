import type { ExportBody } from '../../domain/traces/packed.ts';
import type { ClickHouse } from './client.ts';

interface BodyRow {
  readonly format: ExportBody['format'];
  readonly compression: ExportBody['compression'];
  readonly base64: string;
}

/** A stored body; null when it is missing. */
export async function findBody(server: ClickHouse, bodyId: string): Promise<ExportBody | null> {
  const [row] = await server.rows<BodyRow>(
    `select format, compression, base64Encode(bytes) as base64 from export_body final where body_id = {id:String}`,
    { id: bodyId },
  );
  return row === undefined
    ? null
    : { format: row.format, compression: row.compression, bytes: Buffer.from(row.base64, 'base64') };
}
