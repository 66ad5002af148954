// npm run catalog:snapshot -- --from <url|file> [--version V] [--taken-at YYYY-MM-DD]
//
// Writes the built-in catalog from a price map: a JSON file, or the JSON file in a wheel of the Python package
// `litellm` (`pip download --no-deps litellm`). Equal input gives an equal snapshot.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { mapFault, modelsOfMap } from '../src/domain/catalog/price-map.ts';
import { factsOf } from './facts-only.ts';
import { zipEntry } from './zip-entry.ts';

const MAP_IN_WHEEL = 'litellm/model_prices_and_context_window_backup.json';
const FOLDER = new URL('../data/catalog/', import.meta.url);

/** The input cannot become a snapshot. No file was written. The message is for users. */
class SnapshotRejected extends Error {}

interface Source {
  readonly name: string;
  readonly version: string | null;
  readonly json: string;
}

async function readSource(from: string): Promise<Buffer> {
  try {
    if (!/^https?:/.test(from)) return await readFile(from);
    const response = await fetch(from, { headers: { 'user-agent': 'lensgate-catalog-snapshot' } });
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    throw new SnapshotRejected(`${from} answered ${response.status}.`);
  } catch (error) {
    if (error instanceof SnapshotRejected || !(error instanceof Error)) throw error;
    const { message } = error.cause instanceof Error ? error.cause : error;
    throw new SnapshotRejected(`${from} cannot be read: ${message}.`);
  }
}

/** The price map of a wheel, with the name and version of the wheel; any other file is returned unchanged. */
function sourceIn(bytes: Buffer, from: string, version: string | null): Source {
  // A wheel is a zip archive, which begins with `PK`.
  if (bytes.subarray(0, 2).toString('latin1') !== 'PK')
    return { name: basename(from), version, json: bytes.toString('utf8') };
  const map = zipEntry(bytes, MAP_IN_WHEEL);
  const metadata = zipEntry(bytes, '.dist-info/METADATA')?.bytes.toString('utf8') ?? '';
  if (map === null) throw new SnapshotRejected(`${basename(from)} has no ${MAP_IN_WHEEL}.`);
  const declared = (field: string): string | undefined => new RegExp(`^${field}: (.+)$`, 'm').exec(metadata)?.[1];
  return {
    name: `${declared('Name') ?? 'litellm'} (Python package), ${map.name}`,
    version: version ?? declared('Version') ?? null,
    json: map.bytes.toString('utf8'),
  };
}

function parseMap({ name, json }: Source): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new SnapshotRejected(`${name} is not valid JSON. It may be truncated.`);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { from: { type: 'string' }, version: { type: 'string' }, 'taken-at': { type: 'string' } },
  });
  if (values.from === undefined) throw new SnapshotRejected('Say where the price map is: --from <url|file>.');
  const source = sourceIn(await readSource(values.from), values.from, values.version ?? null);
  const models = modelsOfMap(parseMap(source));
  // 0: there is no current catalog that the map could shrink.
  const fault = mapFault(models, 0);
  if (models === null || fault !== null) throw new SnapshotRejected(`${source.name}: ${fault}.`);
  const facts = models.map(([id, row]) => [id, factsOf(row) ?? {}] as const);
  const json = JSON.stringify(Object.fromEntries(facts));
  const packed = brotliCompressSync(json, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(json) },
  });
  const provenance = {
    source: source.name,
    version: source.version,
    project: 'https://github.com/BerriAI/litellm',
    takenAt: values['taken-at'] ?? new Date().toISOString().slice(0, 10),
    models: facts.length,
    licence: 'MIT, Copyright (c) 2023 Berri AI; see NOTICE',
    contents: 'Facts only: ids, numbers, booleans, dates, names, lists and source addresses. No prose.',
    sha256: createHash('sha256').update(json).digest('hex'),
  };
  await writeFile(new URL('snapshot.json.br', FOLDER), packed);
  await writeFile(new URL('provenance.json', FOLDER), `${JSON.stringify(provenance, null, 2)}\n`);
  console.log(`${facts.length} models, ${json.length} bytes, ${packed.length} compressed: ${provenance.sha256}`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SnapshotRejected)) throw error;
  console.error(`No snapshot was made: ${error.message}`);
  process.exitCode = 1;
}
